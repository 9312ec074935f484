import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Message } from '../../src/frame.js';
import { createRig } from '../../src/rig.fixture.js';

const server = fileURLToPath(new URL('chaos-server.mjs', import.meta.url));

export interface StormResult {
  readonly reads: number;
  readonly readsAnswered: number;
  readonly writes: number;
  readonly writesAnswered: number;
  readonly unknown: number;
  /** Mutations that the server executed more than once, by its own log. */
  readonly duplicates: readonly string[];
  /** Mutations that were answered as done or not executed, against the log of the server. */
  readonly wrong: readonly string[];
  /** Failures without a typed code. */
  readonly untyped: number;
  readonly kills: number;
}

/** Kills the server again and again while a client calls its tools. */
export async function runStorm(calls: number, inFlight = 8): Promise<StormResult> {
  const dir = mkdtempSync(join(tmpdir(), 'storm-'));
  const log = join(dir, 'effects');
  const children = join(dir, 'guard-children');
  const rig = createRig({
    config: { command: process.execPath, args: [server] },
    env: { TOOLKEEL_DATA_DIR: dir, CHAOS_LOG: log },
  });
  let kills = 0;
  const kill = (): void => {
    for (const name of existsSync(children) ? readdirSync(children) : []) {
      try {
        process.kill(Number(name.split('-')[0]), 'SIGKILL');
        kills++;
      } catch {
        // It has just ended.
      }
    }
  };
  const answers = new Map<string, Message>();
  try {
    const client = await rig.client();
    let next = 0;
    let untilKill = 20;
    const worker = async (): Promise<void> => {
      while (next < calls) {
        const n = next++;
        const name = n % 4 === 3 ? 'add' : 'get';
        const answered = client.call(name, { n: `${name}${n}` });
        // While this call and those of the other workers are in flight.
        if (--untilKill === 0) {
          untilKill = 20 + Math.floor(Math.random() * 40);
          setTimeout(kill, Math.random() * 5);
        }
        answers.set(`${name}${n}`, await answered);
      }
    };
    await Promise.all(Array.from({ length: inFlight }, worker));
  } finally {
    await rig.close();
  }
  const effects = readFileSync(log, 'utf8').split('\n').filter(Boolean);
  rmSync(dir, { recursive: true, force: true });
  return summarize(answers, effects, kills);
}

function summarize(
  answers: ReadonlyMap<string, Message>,
  effects: readonly string[],
  kills: number,
): StormResult {
  const count = (name: string): number => effects.filter((one) => one === name).length;
  const all = [...answers];
  const reads = all.filter(([name]) => name.startsWith('get'));
  const writes = all.filter(([name]) => name.startsWith('add'));
  const isAnswered = ([, { result }]: [string, Message]): boolean =>
    result?.['isError'] !== true && !!result;
  const errorOf = ({ result }: Message) =>
    (result?.['structuredContent'] as { error?: { code: string; outcome?: string } } | undefined)
      ?.error;
  return {
    reads: reads.length,
    readsAnswered: reads.filter(isAnswered).length,
    writes: writes.length,
    writesAnswered: writes.filter(isAnswered).length,
    unknown: writes.filter(([, message]) => errorOf(message)?.code === 'outcome_unknown').length,
    duplicates: writes.map(([name]) => name).filter((name) => count(name) > 1),
    wrong: writes
      .filter(([name, message]) => {
        if (errorOf(message)?.outcome === 'not_executed') return count(name) > 0;
        return errorOf(message) === undefined && count(name) !== 1;
      })
      .map(([name]) => name),
    untyped: all.filter(([, message]) => {
      const isFailed = message.error !== undefined || message.result?.['isError'] === true;
      return isFailed && errorOf(message) === undefined;
    }).length,
    kills,
  };
}
