// Inspects tarballs in a separate process, because the type analysis blocks the event loop.
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { readFileSync } from 'node:fs';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

/** The packages are ES modules only; old and CommonJS resolution are not supported. */
const ignored = new Set(['node10', 'node16-cjs']);

/** @param {Buffer} tarball */
const exportProblems = async (tarball) => {
  const { buffer, byteOffset, byteLength } = tarball;
  const data = /** @type {ArrayBuffer} */ (buffer.slice(byteOffset, byteOffset + byteLength));
  const { messages, pkg } = await publint({ pack: { tarball: data }, strict: true });
  return messages.map((message) => formatMessage(message, pkg, { color: false }) ?? message.code);
};

/** @param {Buffer} tarball */
const typeProblems = async (tarball) => {
  const analysis = await checkPackage(createPackageFromTarballData(tarball));
  if (!analysis.types) return ['has no type declarations'];
  return analysis.problems
    .filter((problem) => !('resolutionKind' in problem && ignored.has(problem.resolutionKind)))
    .map((problem) => `types: ${JSON.stringify(problem)}`);
};

for (const path of process.argv.slice(2)) {
  const tarball = readFileSync(path);
  for (const problem of [...(await exportProblems(tarball)), ...(await typeProblems(tarball))]) {
    process.stdout.write(`${path.replace(/^.*[\\/]/, '')}: ${problem}\n`);
    process.exitCode = 1;
  }
}
