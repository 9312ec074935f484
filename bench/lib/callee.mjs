/** @typedef {() => unknown} Behaviour */

/** @type {Behaviour | undefined} */
let behaviour;

export const answer = 42;

/** The bare call that everything is compared with. */
export const bare = async () => answer;

/**
 * What every case calls: the same, but a self-check can make it misbehave, so that the object that is checked
 * need not be another one than the object that is timed. That choice costs some 4 ns, which every case pays.
 */
export const callee = async () => (behaviour === undefined ? answer : behaviour());

/**
 * @template T
 * @param {Behaviour} misbehaviour
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export const misbehaving = async (misbehaviour, work) => {
  behaviour = misbehaviour;
  try {
    return await work();
  } finally {
    behaviour = undefined;
  }
};
