import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { codeIn } from './docs.js';
import { root, sourceOf, workspacePackages } from './workspace.js';

/** Compiles every TypeScript block of the pages in one run; gives "page:line error" for each that fails. */
export const compileBlocks = async (pages: ReadonlyMap<string, string>): Promise<string[]> => {
  const blocks = [...pages].flatMap(([page, text]) =>
    codeIn(text).map((block) => ({ page, ...block })),
  );
  if (blocks.length === 0) return [];

  // Inside the repository, because the blocks import what is installed there.
  mkdirSync(join(root, '.cache'), { recursive: true });
  const dir = mkdtempSync(join(root, '.cache', 'docs-'));
  try {
    for (const [index, { text }] of blocks.entries())
      writeFileSync(join(dir, `block-${index}.ts`), `${text}\nexport {};\n`);
    writeFileSync(join(dir, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify(configFor(dir)));
    const output = await tsc(dir);
    return output.split('\n').flatMap((row) => {
      const [, index, line, message] = /block-(\d+)\.ts\((\d+),\d+\): (.*)$/.exec(row) ?? [];
      const block = blocks[Number(index)];
      if (block) return [`${block.page}:${block.line + Number(line)} ${message}`];
      return /error TS5|error TS18/.test(row) ? [row] : []; // the configuration itself is wrong
    });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
};

/** The sources, not the build: documentation must fit what is written now. */
const configFor = (dir: string): object => {
  const sources = workspacePackages().flatMap(sourceOf);
  const fromHere = (file: string): string => `./${relative(dir, file).replaceAll('\\', '/')}`;
  return {
    extends: fromHere(join(root, 'tsconfig.base.json')),
    compilerOptions: {
      composite: false,
      incremental: false,
      declaration: false,
      noEmit: true,
      noUnusedLocals: false, // an example may show a value and stop there
      noUnusedParameters: false,
      paths: Object.fromEntries(
        sources.map(({ specifier, file }) => [specifier, [fromHere(file)]]),
      ),
    },
    include: ['*.ts'],
  };
};

const tsc = (dir: string): Promise<string> =>
  new Promise((resolve) => {
    const script = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    execFile(process.execPath, [script, '-p', dir], (_error, stdout, stderr) => {
      resolve(stdout + stderr);
    });
  });
