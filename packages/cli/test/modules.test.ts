import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { useTempDir } from '../src/runtime.fixture.js';
import { finished } from './support/process.js';

const dir = useTempDir();

interface Coverage {
  readonly result: readonly { readonly url: string }[];
}

/** The files that a server loads before its first request. */
const loadedBy = async (...args: readonly string[]): Promise<readonly string[]> => {
  const into = join(dir(), `coverage-${args.join('-')}`);
  const place = { cwd: dir(), env: { NODE_V8_COVERAGE: into } };
  expect(await finished(['serve', ...args], place)).toMatchObject({ code: 0 });
  const [file = ''] = readdirSync(into);
  const { result } = JSON.parse(readFileSync(join(into, file), 'utf8')) as Coverage;
  return result.map(({ url }) => url).filter((url) => url.startsWith('file:'));
};
const matching = (files: readonly string[], what: RegExp) =>
  files.filter((file) => what.test(file));

it('a server of one pack does not load the other', async () => {
  const stac = await loadedBy('stac');
  expect(matching(stac, /packages\/stac\/dist\/pack\.js$/)).toHaveLength(1);
  expect(matching(stac, /packages\/(x|sandbox)\/dist\//)).toEqual([]);
  const x = await loadedBy('x');
  expect(matching(x, /packages\/x\/dist\/pack\.js$/)).toHaveLength(1);
  expect(matching(x, /packages\/(stac|sandbox)\/dist\//)).toEqual([]);
});

it('describing X loads neither its client nor its middleware', async () => {
  const files = await loadedBy('x');
  expect(matching(files, /node_modules\/undici\//)).toEqual([]);
  expect(matching(files, /packages\/x\/dist\/tools\/specs\//).length).toBeGreaterThan(4);
  const runtimeModules =
    /packages\/x\/dist\/(instance|api\/|http\/|text\/|posts\/|media\/|tools\/[^/]+\.js)/;
  expect(matching(files, runtimeModules)).toEqual([]);
  expect(matching(files, /packages\/pack-kit\/dist\/base\.js$/)).toHaveLength(1);
  expect(matching(files, /packages\/(pack-kit\/dist\/http|kernel\/dist\/engine)\//)).toEqual([]);
  expect(matching(files, /packages\/x\/dist\/auth\/(login|stored-login)\.js/)).toEqual([]);
});
