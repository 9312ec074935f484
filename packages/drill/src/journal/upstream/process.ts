import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { built } from '../built.js';
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
  /** Lets the next write meet this fault. */
  readonly failNext: (fault: WriteFault) => void;
  /** Holds the nth write of a key back at a point; resolves, once it is there, to what lets it go on. */
  readonly holdAt: (point: GatePoint, key: string, nth: number) => Promise<() => void>;
  readonly counts: () => Promise<EffectCounts>;
  /** Everything that happened, from its own log. */
  readonly effects: () => readonly Effect[];
  readonly stop: () => Promise<void>;
}

export async function startUpstreamProcess(settings: UpstreamSettings): Promise<UpstreamProcess> {
  const child = fork(built('upstream/main.js'), [JSON.stringify(settings)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const send = (message: ToUpstream): void => void child.send(message);
  const hear = <K extends FromUpstream['kind']>(kind: K, key?: string) =>
    new Promise<Extract<FromUpstream, { kind: K }>>((resolve, reject) => {
      const listen = (message: FromUpstream): void => {
        if (message.kind !== kind || (message.kind === 'held' && message.key !== key)) return;
        child.off('message', listen);
        child.off('exit', gone);
        resolve(message as Extract<FromUpstream, { kind: K }>);
      };
      const gone = (): void => reject(new Error('the upstream process ended by itself'));
      child.on('message', listen);
      child.once('exit', gone);
    });
  const { url } = await hear('listening');
  return {
    url,
    failNext: (fault) => send({ kind: 'fault', fault }),
    holdAt: async (point, key, nth) => {
      const there = hear('held', key);
      send({ kind: 'hold', point, key, nth });
      await there;
      return () => send({ kind: 'go', key });
    },
    counts: async () => {
      const told = hear('counts');
      send({ kind: 'count' });
      return (await told).counts;
    },
    effects: () => linesOf(settings.log).map((line) => JSON.parse(line) as Effect),
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.disconnect();
      }),
  };
}

function linesOf(file: string): readonly string[] {
  return readFileSync(file, 'utf8').split('\n').filter(Boolean);
}
