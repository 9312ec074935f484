const { stdout } = process;

/** @param {number} ms */
export const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;

/** @param {string} text */
export const say = (text) => void stdout.write(`${text}\n`);

/**
 * Does some work and says so when it takes longer than a second: a counting line on a terminal, one plain
 * line elsewhere. `label` may be a function, for work whose description changes while it runs.
 *
 * @template T
 * @param {string | (() => string)} label
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export const withProgress = async (label, work) => {
  const text = typeof label === 'string' ? () => label : label;
  const started = performance.now();
  let shown = false;
  const timer = setInterval(() => {
    const elapsed = performance.now() - started;
    if (stdout.isTTY) stdout.write(`\r\u001B[2K${text()} … ${Math.floor(elapsed / 1000)} s`);
    else if (!shown) say(`${text()} …`);
    shown = true;
  }, 1000);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    if (shown && stdout.isTTY) stdout.write('\r\u001B[2K');
  }
};

/**
 * @template T
 * @param {() => Promise<T>} work
 * @returns {Promise<{ value: T, ms: number }>}
 */
export const timed = async (work) => {
  const started = performance.now();
  const value = await work();
  return { value, ms: performance.now() - started };
};
