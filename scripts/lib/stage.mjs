import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { readJson } from './json.mjs';
import { cacheDir, inRoot, packageDirs } from './paths.mjs';

/** What is published outside `dist`. */
const documents = ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md', 'data'];
const unpublished = /\.(test|fixture)\.(js|d\.ts)$|\.tsbuildinfo$/;

/** The folders of all public packages. */
const publicDirs = () =>
  packageDirs().filter((dir) => {
    /** @type {import('./json.mjs').Manifest} */
    const manifest = readJson(join(dir, 'package.json'));
    return !manifest.private;
  });

/**
 * Lays out packages for publishing: each export becomes one module plus the chunks it loads later, because opening
 * many small files slows down the start of a server.
 *
 * @param {string} into like node_modules: each package gets a folder with its name
 * @param {readonly string[]} [dirs]
 * @returns {Promise<string[]>} the folders, in the order of `dirs`
 */
export const stage = async (into, dirs = publicDirs()) => {
  rmSync(into, { recursive: true, force: true });
  return Promise.all(dirs.map((dir) => stageOne(dir, into)));
};

/**
 * All public packages, laid out in the cache. `npm test` needs them twice: it inspects the tarballs, and a
 * test installs them.
 */
export const stagePublished = async () => {
  const into = join(cacheDir, 'publish');
  const stamp = join(into, 'stamp');
  const dirs = publicDirs();
  const current = stampOf([inRoot('scripts', 'lib', 'stage.mjs'), ...dirs.flatMap(inputsOf)]);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === current)
    return dirs.map((dir) => stagedAt(dir, into));
  const staged = await stage(into, dirs);
  writeFileSync(stamp, current);
  return staged;
};

/** @param {string} dir */
const inputsOf = (dir) =>
  [...documents, 'dist']
    .map((name) => join(dir, name))
    .filter((path) => existsSync(path))
    .flatMap((path) =>
      statSync(path).isFile()
        ? [path]
        : readdirSync(path, { recursive: true, encoding: 'utf8' }).map((file) => join(path, file)),
    );

/**
 * Changes with the content of the files, as far as their sizes and times tell.
 *
 * @param {readonly string[]} files
 */
const stampOf = (files) => {
  const hash = createHash('sha256');
  for (const file of files) {
    const { size, mtimeMs } = statSync(file);
    hash.update(`${file} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex');
};

/**
 * @param {string} dir
 * @param {string} into
 */
const stagedAt = (dir, into) => {
  /** @type {import('./json.mjs').Manifest} */
  const { name = '' } = readJson(join(dir, 'package.json'));
  return join(into, name);
};

/**
 * @param {string} dir
 * @param {string} into
 */
const stageOne = async (dir, into) => {
  /** @type {import('./json.mjs').Manifest & { exports?: Record<string, unknown> }} */
  const manifest = readJson(join(dir, 'package.json'));
  const to = stagedAt(dir, into);
  mkdirSync(to, { recursive: true });
  for (const file of documents)
    if (existsSync(join(dir, file))) cpSync(join(dir, file), join(to, file), { recursive: true });
  const entries = canBundle(dir) ? entriesOf(manifest.exports ?? {}) : [];
  cpSync(join(dir, 'dist'), join(to, 'dist'), {
    recursive: true,
    filter: (path) => !unpublished.test(path) && !(entries.length > 0 && path.endsWith('.js')),
  });
  if (entries.length > 0) await bundleModules(dir, entries, to);
  return to;
};

/**
 * Bundling would change the `import.meta` of a module.
 *
 * @param {string} dir
 */
const canBundle = (dir) =>
  !readdirSync(join(dir, 'dist'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.js') && !unpublished.test(file))
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
const bundleModules = async (dir, entries, to) => {
  const nameOf = (/** @type {string} */ entry) =>
    relative('dist', entry).replace(/\.js$/, '').replaceAll('\\', '/');
  // Imported lazily, because this module is loaded before dependencies are installed.
  const { rollup } = await import('rollup');
  const bundle = await rollup({
    input: Object.fromEntries(entries.map((entry) => [nameOf(entry), join(dir, entry)])),
    // JSON stays a file of its own, which Node imports.
    external: (id) => (!id.startsWith('.') && !isAbsolute(id)) || id.endsWith('.json'),
    onwarn: ({ message }) => {
      throw new Error(`${dir}: ${message}`);
    },
  });
  await bundle.write({
    dir: join(to, 'dist'),
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    importAttributesKey: 'with',
  });
  await bundle.close();
};
