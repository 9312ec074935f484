import type { StacSandboxOptions } from '@toolkeel/sandbox';
import { join } from 'node:path';
import type { ServerOptions } from '../rig/server.js';
import { startUpstreams } from '../rig/upstreams.js';
import { SIGMA, type Arm } from '../scenarios.js';
import { startArm, type RunningArm } from './arm.js';

export interface StageOptions {
  readonly command: ServerOptions['command'];
  readonly dir: string;
  readonly seed: number;
  readonly sites: number;
  /** Without it the upstreams answer at once. */
  readonly p95Ms?: number;
  readonly arms: readonly Pick<Arm, 'name' | 'faults' | 'hedge'>[];
}

export interface Stage {
  readonly arms: readonly RunningArm[];
  readonly close: () => Promise<void>;
}

/** Every arm with a server process and two upstreams of its own: nothing that they learn is shared. */
export async function openStage(options: StageOptions): Promise<Stage> {
  const { command, dir, sites, arms } = options;
  const upstreams = await startUpstreams(arms.flatMap((arm) => upstreamOptions(arm, options)));
  const started = await Promise.allSettled(
    arms.map(({ name, hedge }, place) => {
      const own = [upstreams.all[2 * place]!, upstreams.all[2 * place + 1]!] as const;
      return startArm({ command, dir: join(dir, name), sites, hedge, upstreams: own });
    }),
  );
  const running = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const close = async (): Promise<void> => {
    await Promise.all(running.map(({ server }) => server.close()));
    await upstreams.close();
  };
  const failed = started.find((one) => one.status === 'rejected');
  if (!failed) return { arms: running, close };
  await close();
  throw failed.reason;
}

function upstreamOptions(
  { faults }: Pick<Arm, 'faults'>,
  { seed, p95Ms }: StageOptions,
): StacSandboxOptions[] {
  const common = {
    faults,
    drawBy: 'request',
    ...(p95Ms !== undefined && { latency: { p95Ms, sigma: SIGMA } }),
  } as const;
  return [
    // Without ETags: every document comes whole, and nothing is spared by knowing it already.
    { ...common, seed, flavour: 'full', traits: { etags: false } },
    { ...common, seed, flavour: 'pgstac' },
  ];
}
