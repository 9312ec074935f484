/** @typedef {import('../../../packages/journal/dist/index.js').JournalStore} Store */

export const owner = `bench-${process.pid}`;

/** The arguments and answer of a call with a short text. */
export const args = JSON.stringify({ text: 'x'.repeat(140) });
export const answer = JSON.stringify({
  data: { id: '1234567890123456789', text: 'x'.repeat(140) },
});

/**
 * @param {Store} store
 * @param {number} [leaseMs]
 */
export const registerOwner = (store, leaseMs = 3_600_000) =>
  store.registerOwner(
    { id: owner, host: 'here', pid: process.pid, startedAt: '0', tools: [] },
    leaseMs,
  );

const HELD_MS = 30_000;
const done = {
  state: 'succeeded',
  outcome: 'executed',
  answer,
  code: 'ok',
  holdMs: HELD_MS,
  content: { holdMs: 12 * 3_600_000, windowMs: HELD_MS },
};

let made = 0;

/** A key that is unique among all processes; a counter, because generating random keys is not measured. */
export const newKey = () => `bench-key-${process.pid}-${++made}`;

/** @param {string} [value] */
export const request = (value = newKey()) => ({
  id: `op_${value}`,
  owner,
  account: 'main',
  tool: 'x_post_tweet',
  effect: /** @type {const} */ ('once'),
  dedupKey: { by: /** @type {const} */ ('content'), value },
  argsHash: value,
  content: value,
  keyHoldMs: HELD_MS,
  args,
  correlationId: value,
  allowDuplicate: false,
});

/**
 * One mutation, from claim to settlement.
 *
 * @param {Store} store
 */
export const mutate = async (store) => {
  const claim = await store.claim(request());
  if (claim.kind !== 'mine') throw new Error('another owner holds the operation');
  const fencingToken = { id: claim.operation.id, owner, fence: claim.operation.fence };
  const sent = await store.send(fencingToken, { limits: [] });
  if (sent.kind !== 'sent') throw new Error('the send was not recorded');
  if (!(await store.settle(fencingToken, /** @type {any} */ (done))))
    throw new Error('the operation was not settled');
  delivered.push({ id: fencingToken.id, agoMs: 0 });
  if (delivered.length === BATCH) await store.markDelivered(delivered.splice(0));
  return fencingToken.id;
};

/** @type {{ id: string, agoMs: number }[]} */
const delivered = [];
/** The deliveries of a busy server between two writes of delivery marks. */
const BATCH = 100;
