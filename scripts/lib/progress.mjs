const { stdout } = process;

/** Whether a progress line is shown that must be cleared before other output. */
let lineShown = false;

const clearLine = () => {
  if (lineShown) stdout.write('\r\u001B[2K');
  lineShown = false;
};

/** @param {number} ms */
export const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;

/** @param {string} text */
export const say = (text) => {
  clearLine();
  stdout.write(`${text}\n`);
};

/**
 * Runs work and shows progress if it takes longer than a second: a counter on a terminal, one line elsewhere.
 * `label` is called for each update.
 *
 * @template T
 * @param {() => string} label
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export const withProgress = async (label, work) => {
  const started = performance.now();
  let isShown = false;
  const timer = setInterval(() => {
    const elapsed = performance.now() - started;
    if (stdout.isTTY) {
      stdout.write(`\r\u001B[2K${label()} … ${Math.floor(elapsed / 1000)} s`);
      lineShown = true;
    } else if (!isShown) say(`${label()} …`);
    isShown = true;
  }, 1000);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    clearLine();
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
