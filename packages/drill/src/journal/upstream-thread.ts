import { type FaultKind, openSandbox } from '@toolkeel/sandbox';
import { EventEmitter, once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import type { Effect, EffectCounts, Hold, UpstreamSettings } from './upstream.js';

/** Half of them are injected after the write is committed: its answer is lost or invalid. */
const kind: readonly FaultKind[] = [
  'close-before-read',
  'http-503',
  'http-429',
  'reset-after-read',
  'acted-http-503',
  'acted-stall',
  'half-body',
  'garbage',
];

const { seed, faultRate } = workerData as UpstreamSettings;
const byAct = new Map<string, Effect[]>();
const writing = new Map<string, Promise<unknown>>();
const holds = new Map<string, ReturnType<typeof createHold>>();
const counts: EffectCounts = { effects: 0, acts: 0, duplicates: 0 };

function createHold({ point, nth }: Hold) {
  const [reached, released] = [new EventEmitter(), new EventEmitter()];
  return { point, left: nth, reached, released, isReached: once(reached, 'done') };
}

/** Holds a write at a point until it is released, so that its client can be killed there. */
async function gate(point: Hold['point'], key: string): Promise<void> {
  const hold = holds.get(key);
  if (hold?.point !== point) return;
  hold.left -= 1;
  if (hold.left !== 0) return;
  hold.reached.emit('done');
  await once(hold.released, 'done');
}

async function write(act: string, key: string, part: string): Promise<Effect> {
  await gate('received', key);
  counts.effects += 1;
  const effect = { id: `e${counts.effects}`, key, part };
  const known = byAct.get(act) ?? [];
  if (known.length === 1) counts.duplicates += 1;
  byAct.set(act, [...known, effect]);
  counts.acts = byAct.size;
  await gate('committed', key);
  return effect;
}

/**
 * An upstream without idempotency keys. POST commits every write; GET lists committed writes after it
 * has awaited in-flight writes of that act, so that an empty list proves that the write was not executed.
 */
async function handle({ method, url }: Request): Promise<Response> {
  const { searchParams } = new URL(url);
  const [key, part] = [searchParams.get('key') ?? '', searchParams.get('part') ?? ''];
  const act = JSON.stringify([key, part]);
  if (method !== 'POST') {
    await writing.get(act);
    return Response.json(byAct.get(act) ?? []);
  }
  const written = write(act, key, part);
  const all = Promise.all([writing.get(act), written]);
  writing.set(act, all);
  await all;
  if (writing.get(act) === all) writing.delete(act);
  return Response.json(await written, { status: 201 });
}

const { control, origins } = await openSandbox(
  {
    seed,
    ports: { api: 0 },
    faults: [{ kind, rate: faultRate, methods: ['POST'] }],
    extraControl: {
      state: () => ({}),
      reads: { '/effects': () => [...byAct.values()].flat(), '/committed': () => counts },
      sets: {
        '/hold': (hold) => void holds.set((hold as Hold).key, createHold(hold as Hold)),
        '/held': async (hold) => void (await holds.get((hold as Hold).key)?.isReached),
        '/release': (hold) => void holds.get((hold as Hold).key)?.released.emit('done'),
      },
    },
  },
  () => ({
    routes: ['acts'],
    contentFaults: [],
    routeOf: () => 'acts',
    handle,
    outageBody: () => ({ type: 'application/json', text: '{"title":"unavailable"}' }),
  }),
);
parentPort?.postMessage([{ url: origins['api'], controlUrl: control.url }], []);
