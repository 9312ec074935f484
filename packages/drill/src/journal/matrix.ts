import {
  type DeathPoint,
  deathPoints,
  isBeforeSending,
  type ServerSettings,
} from './server/faults.js';
import type { UpstreamProcess } from './upstream/process.js';
import { type CallEnd, type CallStats, pursue, Site, startServer } from './calls.js';

export interface MatrixCase {
  readonly point: DeathPoint;
  readonly tool: string;
  /** At which passing of the point it dies: the first part of the act, or a later one. */
  readonly nth: number;
}

export interface MatrixResult extends MatrixCase {
  /** What the client learnt by issuing the call again, and once more after that. */
  readonly end: CallEnd;
  readonly again: CallEnd;
  /** Ids of what the upstream did, in the order of the parts. */
  readonly committed: readonly string[];
  readonly parts: number;
}

export function matrixCases(): readonly MatrixCase[] {
  const single = deathPoints.flatMap((point) =>
    ['act', 'act_blindly'].map((tool) => ({ point, tool, nth: 1 })),
  );
  const passedOnce: ReadonlySet<DeathPoint> = new Set(['after-claim', 'before-result-stored']);
  const inParts = deathPoints.map((point) => ({
    point,
    tool: 'act_in_parts',
    nth: passedOnce.has(point) ? 1 : 2,
  }));
  return [...single, ...inParts];
}

/** A client calls, the server dies at the point, a new one starts, the client issues the call again. */
export async function runCase(
  which: MatrixCase,
  settings: ServerSettings,
  upstream: UpstreamProcess,
  name: string,
): Promise<MatrixResult> {
  const { point, tool, nth } = which;
  const key = `${name}:${tool}:${point}`;
  await dieAt(which, settings, upstream, key);
  const site = new Site(settings);
  try {
    const stats: CallStats = { calls: 0, late: 0, codes: {} };
    const ask = () => pursue(site, tool, { key }, settings.callTimeoutMs + 5_000, stats);
    const end = await ask();
    const again = await ask();
    const effects = upstream.effects().filter((effect) => effect.key === key);
    const committed = effects.map(({ id }) => id);
    return { point, tool, nth, end, again, committed, parts: tool === 'act_in_parts' ? 3 : 1 };
  } finally {
    await site.close();
  }
}

async function dieAt(
  { point, tool, nth }: MatrixCase,
  settings: ServerSettings,
  upstream: UpstreamProcess,
  key: string,
): Promise<void> {
  const seenByUpstream = point === 'after-bytes-left' || point === 'after-commit';
  const server = await startServer(
    seenByUpstream ? settings : { ...settings, ending: { point, nth, signal: 'SIGKILL' } },
  );
  const gate = point === 'after-bytes-left' ? 'received' : 'committed';
  const held = seenByUpstream ? upstream.holdAt(gate, key, nth) : undefined;
  const call = server.call(tool, { key }, 30_000);
  if (held !== undefined) {
    const goOn = await held;
    server.kill('SIGKILL');
    await server.gone;
    goOn();
  }
  const reply = await call;
  await server.gone;
  if (reply.kind !== 'lost') {
    throw new Error(`${tool} was to die at ${point}, and answered: ${JSON.stringify(reply)}`);
  }
}

/** What is wrong with a result; nothing where it is as promised. */
export function faultsOf(result: MatrixResult): readonly string[] {
  const { point, tool, end, again, committed, parts } = result;
  const wrong: string[] = [];
  const must = (holds: boolean, what: string): void => {
    if (!holds) wrong.push(what);
  };
  const canBeRead = tool !== 'act_blindly';
  must(committed.length <= parts, `acted ${committed.length} times instead of ${parts}`);
  must(
    JSON.stringify(idOf(end)) === JSON.stringify(idOf(again)),
    'a second re-issue told another end',
  );
  must(end.kind !== 'limbo' && end.kind !== 'refused', `was left with ${JSON.stringify(end)}`);
  if (isBeforeSending(point) || canBeRead) {
    must(end.kind === 'done', `could know, and said ${end.kind}`);
    must(committed.length === parts, `acted ${committed.length} times instead of ${parts}`);
  }
  if (end.kind === 'done')
    must(end.id === committed.join(','), `told ${end.id}, not ${committed.join(',')}`);
  return wrong;
}

function idOf(end: CallEnd): unknown {
  return end.kind === 'done' ? end.id : end;
}
