/** @typedef {() => unknown} Behaviour */

/** @type {Behaviour | undefined} */
let behaviour;

export const answer = 42;

/** The bare call that every case is compared with. */
export const bare = async () => answer;

/**
 * The callee of every case. A self-check can change its behaviour, so that the checked object is the timed
 * object. This costs about 4 ns in every case.
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
