import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';
import { readJson } from './json.mjs';
import { inRoot } from './paths.mjs';

const output = process.argv[2] ?? '';

// Nothing inline: the content security policy allows neither inline scripts and styles nor data addresses.
const built = await build({
  root: inRoot('packages', 'console', 'src', 'app'),
  configFile: false,
  envDir: false,
  publicDir: false,
  logLevel: 'warn',
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact', legalComments: 'none' },
  build: {
    outDir: output,
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
    reportCompressedSize: false,
  },
});

/**
 * The licenses of the packages in the bundle, which have to be distributed with it.
 *
 * @param {readonly string[]} modules
 */
const licensesOf = (modules) => {
  const names = modules.flatMap(
    (id) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id.replaceAll('\\', '/'))?.[1] ?? [],
  );
  return [...new Set(names)].toSorted().map((name) => {
    const dir = inRoot('node_modules', name);
    const file = readdirSync(dir).find((each) => /^licen[sc]e/i.test(each));
    /** @type {import('./json.mjs').Manifest} */
    const { version, license } = readJson(join(dir, 'package.json'));
    const path = join(dir, file ?? '');
    const text = file && existsSync(path) ? readFileSync(path, 'utf8') : '';
    return { name, version, license, text };
  });
};

const outputs = [built].flat().flatMap((each) => ('output' in each ? each.output : []));
const modules = outputs.flatMap((each) => (each.type === 'chunk' ? each.moduleIds : []));
writeFileSync(join(output, 'licenses.json'), JSON.stringify(licensesOf(modules), null, 1));
