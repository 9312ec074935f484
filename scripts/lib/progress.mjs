const { stdout } = process;

/** Is there a progress line on the screen that must go before something else is written? */
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
 * Does some work and says so when it takes longer than a second: a counting line on a terminal,
 * one plain line elsewhere. `label` is asked each time, for work that changes while it runs.
 *
 * @template T
 * @param {() => string} label
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export const withProgress = async (label, work) => {
  const started = performance.now();
  let said = false;
  const timer = setInterval(() => {
    const elapsed = performance.now() - started;
    if (stdout.isTTY) {
      stdout.write(`\r\u001B[2K${label()} … ${Math.floor(elapsed / 1000)} s`);
      lineShown = true;
    } else if (!said) say(`${label()} …`);
    said = true;
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
