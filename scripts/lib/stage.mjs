import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { readJson } from './json.mjs';
import { packageDirs } from './paths.mjs';

/** Beside `dist`. */
const papers = ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md'];
const forNobody = /\.(test|fixture)\.(js|d\.ts)$|\.tsbuildinfo$/;

/** The folders of all packages that are published. */
const publicDirs = () =>
  packageDirs().filter((dir) => {
    /** @type {import('./json.mjs').Manifest} */
    const manifest = readJson(join(dir, 'package.json'));
    return !manifest.private;
  });

/**
 * Lays out packages as they are published: what each exports is one module and what it loads later, not the fifty
 * small files that it is written in. Opening a file takes Node longer than reading it, and a server that a client
 * starts is waited for.
 *
 * @param {string} into like node_modules: a package gets the folder of its name
 * @param {readonly string[]} [dirs]
 * @returns {Promise<string[]>} the folders, in the order of `dirs`
 */
export const stage = async (into, dirs = publicDirs()) => {
  rmSync(into, { recursive: true, force: true });
  return Promise.all(dirs.map((dir) => stageOne(dir, into)));
};

/**
 * @param {string} dir
 * @param {string} into
 */
const stageOne = async (dir, into) => {
  /** @type {import('./json.mjs').Manifest & { exports?: Record<string, unknown> }} */
  const manifest = readJson(join(dir, 'package.json'));
  const to = join(into, manifest.name ?? '');
  mkdirSync(to, { recursive: true });
  for (const paper of papers)
    if (existsSync(join(dir, paper))) cpSync(join(dir, paper), join(to, paper));
  const entries = canBeJoined(dir) ? entriesOf(manifest.exports ?? {}) : [];
  cpSync(join(dir, 'dist'), join(to, 'dist'), {
    recursive: true,
    filter: (path) => !forNobody.test(path) && !(entries.length > 0 && path.endsWith('.js')),
  });
  if (entries.length > 0) await joinModules(dir, entries, to);
  return to;
};

/**
 * A module that asks where it lies would get another answer.
 *
 * @param {string} dir
 */
const canBeJoined = (dir) =>
  !readdirSync(join(dir, 'dist'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.js') && !forNobody.test(file))
    .some((file) => readFileSync(join(dir, 'dist', file), 'utf8').includes('import.meta'));

/**
 * @param {Record<string, unknown>} exported
 * @returns {string[]} paths of modules, from the package's folder
 */
const entriesOf = (exported) =>
  Object.values(exported).flatMap((target) =>
    typeof target === 'object' && target !== null && 'default' in target
      ? [String(target.default)]
      : [],
  );

/**
 * @param {string} dir
 * @param {readonly string[]} entries
 * @param {string} to
 */
const joinModules = async (dir, entries, to) => {
  const nameOf = (/** @type {string} */ entry) =>
    relative('dist', entry).replace(/\.js$/, '').replaceAll('\\', '/');
  // Loaded here: whoever imports this module may do so before anything is installed.
  const { rollup } = await import('rollup');
  const bundle = await rollup({
    input: Object.fromEntries(entries.map((entry) => [nameOf(entry), join(dir, entry)])),
    external: (id) => !id.startsWith('.') && !isAbsolute(id),
    onwarn: ({ message }) => {
      throw new Error(`${dir}: ${message}`);
    },
  });
  await bundle.write({
    dir: join(to, 'dist'),
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
  });
  await bundle.close();
};
