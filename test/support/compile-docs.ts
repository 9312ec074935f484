import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { codeIn } from './docs.js';
import { root, sourceOf, workspacePackages } from './workspace.js';

/** Compiles every TypeScript block of the pages in one run; returns "page:line error" for each error. */
export const compileBlocks = async (pages: ReadonlyMap<string, string>): Promise<string[]> => {
  const blocks = [...pages].flatMap(([page, text]) =>
    codeIn(text).map((block) => ({ page, ...block })),
  );
  if (blocks.length === 0) return [];

  // Inside the repository, so that imports resolve from its node_modules.
  mkdirSync(join(root, '.cache'), { recursive: true });
  const dir = mkdtempSync(join(root, '.cache', 'docs-'));
  try {
    for (const [index, { page, text }] of blocks.entries()) {
      // A page shows its module first; later blocks import that by its own name.
      const first = blocks.findIndex((block) => block.page === page);
      const source = text.replaceAll(/from '\.\/[\w-]+\.js'/g, `from './block-${first}.js'`);
      writeFileSync(join(dir, `block-${index}.ts`), `${source}\nexport {};\n`);
    }
    writeFileSync(join(dir, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify(configFor(dir)));
    const output = await tsc(dir);
    return output.split('\n').flatMap((row) => {
      const [, index, line, message] = /block-(\d+)\.ts\((\d+),\d+\): (.*)$/.exec(row) ?? [];
      const block = blocks[Number(index)];
      if (block) return [`${block.page}:${block.line + Number(line)} ${message}`];
      return /error TS5|error TS18/.test(row) ? [row] : []; // the configuration itself is invalid
    });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
};

/** Maps packages to their sources, so that the documentation is checked without a build. */
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
      noUnusedLocals: false, // an example may declare a value without using it
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
