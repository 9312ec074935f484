/**
 * Runs a command's body. An expected failure is one clear message; the exit code is what the body returns.
 *
 * @param {() => Promise<number | void>} body
 */
export const main = async (body) => {
  process.stdout.on('error', () => process.exit(1)); // whoever read our output has left
  try {
    process.exitCode = (await body()) ?? 0;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
};
