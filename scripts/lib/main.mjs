/**
 * Runs a command and sets its exit code. An error is printed as one message.
 *
 * @param {() => Promise<number | void>} body
 */
export const main = async (body) => {
  process.stdout.on('error', () => process.exit(1)); // the reader of the output has closed the pipe
  try {
    process.exitCode = (await body()) ?? 0;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
};
