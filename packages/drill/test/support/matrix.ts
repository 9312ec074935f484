import {
  type KillPoint,
  killPoints,
  type ServerSettings,
} from '../../src/journal/server/faults.js';
import type { Launch } from '../../src/journal/launch.js';
import type { EffectsUpstream } from '../../src/journal/upstream.js';
import {
  type CallEnd,
  callUntilSettled,
  RestartingServer,
  startServer,
} from '../../src/journal/calls.js';

export interface MatrixCase {
  readonly point: KillPoint;
  readonly tool: string;
  /** The occurrence of the point at which the server is killed, for operations in several parts. */
  readonly nth: number;
}

export interface MatrixResult extends MatrixCase {
  /** The outcome of repeating the call after the kill, and of repeating it once more. */
  readonly end: CallEnd;
  readonly again: CallEnd;
  /** The ids of the upstream's effects, in the order of the parts. */
  readonly committed: readonly string[];
  readonly parts: number;
}

const CONCURRENT = 4;

/** The cases of each tool. */
export function matrixCases(): readonly (readonly MatrixCase[])[] {
  const single = ['act', 'act_blindly'].map((tool) =>
    killPoints.map((point) => ({ point, tool, nth: 1 })),
  );
  const passedOnce: ReadonlySet<KillPoint> = new Set(['after-claim', 'before-result-stored']);
  const inParts = killPoints.map((point) => ({
    point,
    tool: 'act_in_parts',
    nth: passedOnce.has(point) ? 1 : 2,
  }));
  return [...single, inParts];
}

/**
 * Kills a server at the point of each case while it executes a call, then starts a new server and repeats the
 * calls. The new server is shared, because starting a process costs more than all of its calls.
 */
export async function runCases(
  cases: readonly MatrixCase[],
  settings: ServerSettings,
  upstream: EffectsUpstream,
  name: string,
  launch: Launch,
): Promise<readonly MatrixResult[]> {
  const keyOf = ({ tool, point }: MatrixCase): string => `${name}:${tool}:${point}`;
  const queue = [...cases];
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      await killAt(next, settings, upstream, keyOf(next), launch);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT }, work));
  const server = new RestartingServer(settings, launch);
  try {
    return await Promise.all(
      cases.map(async (each) => {
        const key = keyOf(each);
        const stats = { calls: 0, late: 0, lost: 0 };
        const timeoutMs = settings.callTimeoutMs + 5_000;
        const repeat = () => callUntilSettled(server, each.tool, { key }, timeoutMs, stats);
        const end = await repeat();
        const again = await repeat();
        const effects = await upstream.effects();
        const committed = effects.filter((effect) => effect.key === key).map(({ id }) => id);
        return { ...each, end, again, committed, parts: each.tool === 'act_in_parts' ? 3 : 1 };
      }),
    );
  } finally {
    await server.close();
  }
}

async function killAt(
  { point, tool, nth }: MatrixCase,
  settings: ServerSettings,
  upstream: EffectsUpstream,
  key: string,
  launch: Launch,
): Promise<void> {
  const isAtUpstream = point === 'after-bytes-left' || point === 'after-commit';
  const server = await startServer(
    isAtUpstream ? settings : { ...settings, stop: { point, nth, signal: 'SIGKILL' } },
    launch,
  );
  const gate = point === 'after-bytes-left' ? 'received' : 'committed';
  const held = isAtUpstream ? await upstream.hold({ point: gate, key, nth }) : undefined;
  const call = server.call(tool, { key }, 30_000);
  if (held !== undefined) {
    await held.reached();
    server.kill('SIGKILL');
    await server.exited;
    await held.release();
  }
  const reply = await call;
  await server.exited;
  if (reply.kind !== 'lost') {
    throw new Error(`${tool} was not killed at ${point} and answered: ${JSON.stringify(reply)}`);
  }
}

/** Up to these points the request is known not to have been sent. */
export function isBeforeSending(point: KillPoint): boolean {
  return point === 'after-claim' || point === 'before-sending';
}

/** The violated guarantees of a result. */
export function violationsOf(result: MatrixResult): readonly string[] {
  const { point, tool, end, again, committed, parts } = result;
  const violations: string[] = [];
  const must = (holds: boolean, what: string): void => {
    if (!holds) violations.push(what);
  };
  const canReadBack = tool !== 'act_blindly';
  must(committed.length <= parts, `executed ${committed.length} times instead of ${parts}`);
  must(
    JSON.stringify(idOf(end)) === JSON.stringify(idOf(again)),
    'the second repeat had a different outcome',
  );
  must(end.kind !== 'unanswered' && end.kind !== 'refused', `ended with ${JSON.stringify(end)}`);
  if (isBeforeSending(point) || canReadBack) {
    must(end.kind === 'done', `the outcome is knowable, but was ${end.kind}`);
    must(committed.length === parts, `executed ${committed.length} times instead of ${parts}`);
  }
  if (end.kind === 'done')
    must(end.id === committed.join(','), `reported ${end.id}, not ${committed.join(',')}`);
  return violations;
}

function idOf(end: CallEnd): unknown {
  return end.kind === 'done' ? end.id : end;
}
