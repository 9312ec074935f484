import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { built } from '../launch.js';
import type {
  Effect,
  EffectCounts,
  FromUpstream,
  GatePoint,
  ToUpstream,
  UpstreamSettings,
  WriteFault,
} from './server.js';

export interface UpstreamProcess {
  readonly url: string;
  /** Injects this fault into the next write. */
  readonly failNext: (fault: WriteFault) => void;
  /** Holds the nth write of a key at a point; resolves to a function that releases it. */
  readonly holdAt: (point: GatePoint, key: string, nth: number) => Promise<() => void>;
  readonly counts: () => Promise<EffectCounts>;
  /** Every committed write, from the upstream's log. */
  readonly effects: () => readonly Effect[];
  readonly stop: () => Promise<void>;
}

export async function startUpstreamProcess(settings: UpstreamSettings): Promise<UpstreamProcess> {
  const child = fork(built('upstream/main.js'), [JSON.stringify(settings)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const send = (message: ToUpstream): void => void child.send(message);
  const receive = <K extends FromUpstream['kind']>(kind: K, key?: string) =>
    new Promise<Extract<FromUpstream, { kind: K }>>((resolve, reject) => {
      const listen = (message: FromUpstream): void => {
        if (message.kind !== kind || (message.kind === 'held' && message.key !== key)) return;
        child.off('message', listen);
        child.off('exit', onExit);
        resolve(message as Extract<FromUpstream, { kind: K }>);
      };
      const onExit = (): void => reject(new Error('the upstream process exited unexpectedly'));
      child.on('message', listen);
      child.once('exit', onExit);
    });
  const { url } = await receive('listening');
  return {
    url,
    failNext: (fault) => send({ kind: 'fault', fault }),
    holdAt: async (point, key, nth) => {
      const held = receive('held', key);
      send({ kind: 'hold', point, key, nth });
      await held;
      return () => send({ kind: 'release', key });
    },
    counts: async () => {
      const reply = receive('counts');
      send({ kind: 'count' });
      return (await reply).counts;
    },
    effects: () =>
      readFileSync(settings.log, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Effect),
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.disconnect();
      }),
  };
}
