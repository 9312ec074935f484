import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { dropOrphans } from '../scripts/lib/build.mjs';
import {
  lockProblems,
  metadataProblems,
  versionProblems,
} from '../scripts/lib/checks/manifests.mjs';
import { holdsAll, stampOf } from '../scripts/lib/install.mjs';
import { withLock } from '../scripts/lib/lock.mjs';
import { cacheDir, inRoot } from '../scripts/lib/paths.mjs';
import { capture, node, tool } from '../scripts/lib/run.mjs';
import { newerNode, otherNode } from '../scripts/lib/newer-node.mjs';
import { stage } from '../scripts/lib/stage.mjs';
import { formatFailures, summarise, summaryLine, total } from '../scripts/lib/summary.mjs';
import { importsOf } from './support/imports.js';
import { longest } from './support/longest-first.js';
import { runtimeSuites } from './support/runtime-suites.js';

test('a started server outlived the npm that was terminated', async () => {
  const server = `setInterval(() => {}, 1000); console.log('started')`;
  const script = `import { node, show } from ${JSON.stringify(pathToFileURL(inRoot('scripts', 'lib', 'run.mjs')).href)};
await show(node(['-e', ${JSON.stringify(server)}]), { endsWithParent: true });`;
  // The last command keeps the shell from replacing itself with node.
  const command = '"$0" --input-type=module -e "$1"; true';
  const shell = spawn('sh', ['-c', command, process.execPath, script]);
  await once(shell.stdout, 'data');
  shell.kill('SIGTERM');
  // Closes when no process holds the other end of the pipe.
  await once(shell, 'close');
  expect(shell.signalCode).toBe('SIGTERM');
}, 60_000);

describe('the summary of a test run', () => {
  const report = {
    success: true,
    numPassedTests: 3,
    numFailedTests: 0,
    numSkippedTests: 0,
    testResults: [{ status: 'passed', assertionResults: [{ status: 'passed' }] }],
    errors: [],
  };
  const line = (changes: Partial<typeof report>, exitCode = 0): string =>
    summaryLine(summarise({ ...report, ...changes }, exitCode));

  test('counts tests', () => {
    expect(line({})).toBe('3 passed, 0 failed');
    expect(line({ success: false, numFailedTests: 2 }, 1)).toBe('3 passed, 2 failed');
    expect(line({ numSkippedTests: 2 })).toBe('3 passed, 0 failed, 2 skipped');
  });

  test('counts a file that did not load as a failure', () => {
    const testResults = [
      { status: 'failed', assertionResults: [] },
      { status: 'failed', assertionResults: [{ status: 'passed' }, { status: 'failed' }] },
    ];
    const changes = { success: false, numFailedTests: 1, testResults };
    expect(line(changes, 1)).toBe('3 passed, 2 failed');
  });

  test('never reports success for a failed run', () => {
    expect(line({}, 1)).toBe('3 passed, 1 failed');
    expect(line({ success: false })).toBe('3 passed, 1 failed');
    expect(summaryLine(summarise(undefined, 0))).toBe('0 passed, 1 failed');
  });

  test('adds several runs', () => {
    const first = { passed: 3, failed: 0, skipped: 1 };
    expect(summaryLine(total([first, { passed: 2, failed: 1, skipped: 0 }]))).toBe(
      '5 passed, 1 failed, 1 skipped',
    );
  });

  test('lists the failures without colours, shortened', () => {
    const long = `\u001b[31mexpected 1\u001b[39m\n${'at a line\n'.repeat(40)}`;
    const failed = { status: 'failed', ancestorTitles: ['a post'], title: 'is sent once' };
    const texts = formatFailures({
      ...report,
      testResults: [
        { status: 'passed', assertionResults: [{ status: 'passed' }] },
        {
          name: inRoot('packages/x/a.test.ts'),
          status: 'failed',
          assertionResults: [{ ...failed, failureMessages: [long] }],
        },
        {
          name: inRoot('packages/x/b.test.ts'),
          status: 'failed',
          message: 'does not load',
          assertionResults: [],
        },
      ],
    });
    expect(texts).toHaveLength(2);
    expect(texts[0]).toContain('✗ packages/x/a.test.ts › a post › is sent once\n    expected 1\n');
    expect(texts[0]!.split('\n')).toHaveLength(14);
    expect(texts[1]).toBe('✗ packages/x/b.test.ts\n    does not load');
    const many = Array.from({ length: 30 }, () => ({ ...failed, failureMessages: ['no'] }));
    const file = { name: inRoot('c.test.ts'), status: 'failed', assertionResults: many };
    expect(formatFailures({ ...report, testResults: [file] }).at(-1)).toBe('✗ and 10 more');
  });

  test('names the reason of a timeout, of a failed hook and of an error outside of tests', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'toolkeel-report-'));
    const suite = `
      test('hangs', () => new Promise(() => {}), 7);
      test.todo('is not written');
      test('loses a rejection', () => void Promise.reject(new Error('lost')));
    `;
    const hooks = `
      describe('with a database', () => {
        beforeAll(() => { throw new Error('no database'); });
        test('reads', () => {});
      });
    `;
    try {
      writeFileSync(join(dir, 'suite.test.js'), suite);
      writeFileSync(join(dir, 'hooks.test.js'), hooks);
      const file = join(dir, 'report.json');
      const args = ['run', '--root', dir, '--globals', `--outputFile=${file}`];
      const own = `--reporter=${inRoot('scripts', 'lib', 'reporter.mjs')}`;
      const { code } = await capture(tool('vitest', [...args, own]));
      const written = JSON.parse(readFileSync(file, 'utf8')) as typeof report;
      expect(summaryLine(summarise(written, code))).toBe('1 passed, 2 failed, 2 skipped');
      const texts = formatFailures(written).toSorted().join('\n');
      expect(texts).toMatch(/hooks\.test\.js\n +Error: no database\n/);
      expect(texts).toMatch(/suite\.test\.js › hangs\n +Error: Test timed out in 7ms\.\n +at /);
      expect(texts).toMatch(/✗ outside of the tests\n +Error: lost\n/);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });

  test('reports a run without tests', () => {
    const changes = { success: false, numPassedTests: 0, testResults: [] };
    expect(line(changes, 1)).toBe('0 passed, 0 failed');
  });
});

describe('the install stamp', () => {
  test('depends on the lock file and the major version of Node', () => {
    const stamp = stampOf('lock', '20.19.0');
    expect(stampOf('lock', '20.20.2')).toBe(stamp);
    expect(stampOf('lock', '22.12.0')).not.toBe(stamp);
    expect(stampOf('other', '20.19.0')).not.toBe(stamp);
  });

  const wanted = {
    packages: {
      '': { name: 'root' },
      'packages/a': { name: 'a' },
      'node_modules/a': { resolved: 'packages/a', link: true },
      'node_modules/tool': { version: '1.0.0', integrity: 'sha512-1' },
      'node_modules/tool-darwin': { version: '1.0.0', integrity: 'sha512-2', optional: true },
    },
  };
  const installed = {
    packages: {
      'packages/a': { name: 'a' },
      'node_modules/a': { resolved: 'packages/a', link: true },
      'node_modules/tool': { version: '1.0.0', integrity: 'sha512-1' },
    },
  };

  test('accepts a tree that npm installed from the same lock file', () => {
    expect(holdsAll(wanted, installed)).toBe(true);
  });

  test.for([
    ['another version', { version: '1.0.1', integrity: 'sha512-1' }],
    ['other content', { version: '1.0.0', integrity: 'sha512-9' }],
    ['nothing', undefined],
  ] as const)('rejects a tree with %s', ([, tool]) => {
    const { 'node_modules/tool': _, ...rest } = installed.packages;
    const packages = tool ? { ...rest, 'node_modules/tool': tool } : rest;
    expect(holdsAll(wanted, { packages })).toBe(false);
  });

  test('rejects a tree without the link to a workspace package', () => {
    const { 'node_modules/a': _, ...packages } = installed.packages;
    expect(holdsAll(wanted, { packages })).toBe(false);
  });
});

describe('the version check', () => {
  const one = (version: string): string[] =>
    versionProblems([{ path: 'package.json', manifest: { dependencies: { tool: version } } }]);

  test.for(['1.2.3', '1.2.3-rc.1', 'npm:other@1.2.3', 'npm:@scope/other@1.2.3'])(
    'accepts %s',
    (version) => {
      expect(one(version)).toEqual([]);
    },
  );

  test.for(['^1.2.3', '~1.2.3', '1.x', '*', 'latest', '>=1.2.3', '1.2', 'file:../x', ''])(
    'rejects %j',
    (version) => {
      expect(one(version)).toEqual([`package.json: tool is "${version}", not an exact version`]);
    },
  );

  test('checks overrides, and allows ranges for peers', () => {
    const manifest = { overrides: { tool: '^1.0.0' }, peerDependencies: { sdk: '^1.0.0' } };
    expect(versionProblems([{ path: 'p', manifest }])).toHaveLength(1);
  });

  test('requires one version of each dependency, including workspace packages', () => {
    const found = versionProblems([
      {
        path: 'a',
        manifest: { name: 'ours', version: '0.2.0', devDependencies: { tool: '1.0.0' } },
      },
      { path: 'b', manifest: { dependencies: { ours: '0.1.0', tool: '1.0.1' } } },
    ]);
    expect(found).toEqual(['b: ours is 0.1.0, but 0.2.0 in a', 'b: tool is 1.0.1, but 1.0.0 in a']);
  });
});

describe('the metadata check', () => {
  const complete = {
    name: '@scope/a',
    version: '1.0.0',
    description: 'A package',
    keywords: ['a'],
    license: 'Apache-2.0',
    files: ['dist'],
    exports: {},
    engines: { node: '>=20' },
    publishConfig: { access: 'public' },
  };

  test('accepts a complete package, and a private one without metadata', () => {
    const { publishConfig: _, ...unscoped } = { ...complete, name: 'a' };
    for (const manifest of [complete, unscoped, { private: true }])
      expect(metadataProblems([{ path: 'p', manifest }])).toEqual([]);
  });

  test('names what is missing', () => {
    const { description: _, engines: _engines, publishConfig: _config, ...rest } = complete;
    expect(metadataProblems([{ path: 'p', manifest: { ...rest, keywords: [] } }])).toEqual(
      ['description', 'keywords', 'engines.node', 'publishConfig.access'].map(
        (field) => `p: ${field} is missing`,
      ),
    );
  });
});

describe('the lock file check', () => {
  const manifests = { '': { devDependencies: { tool: '1.0.0' } } };
  const root = { devDependencies: { tool: '1.0.0' } };

  test('accepts links between workspace packages', () => {
    const packages = { '': root, 'node_modules/a': { resolved: 'packages/a', link: true } };
    expect(lockProblems('lock', { packages }, manifests)).toEqual([]);
  });

  test('rejects a download URL', () => {
    const resolved = ['https:', '', 'registry.example', 'tool.tgz'].join('/');
    const packages = { '': root, 'node_modules/tool': { resolved } };
    expect(lockProblems('lock', { packages }, manifests)).toEqual([
      expect.stringContaining('node_modules/tool contains a download URL'),
    ]);
  });

  test('rejects a tool with binaries for some platforms only', () => {
    const optionalDependencies = { 'tool-linux': '1.0.0', 'tool-darwin': '1.0.0' };
    const packages = {
      '': root,
      'node_modules/tool': { optionalDependencies },
      'node_modules/tool/node_modules/tool-linux': {},
    };
    expect(lockProblems('lock', { packages }, manifests)).toEqual([
      'lock: node_modules/tool would not work on other platforms, missing tool-darwin',
    ]);
  });

  test('rejects a lock file that differs from the manifests', () => {
    const stale = { packages: { '': { devDependencies: { tool: '0.9.0', gone: '1.0.0' } } } };
    expect(lockProblems('lock', stale, manifests)).toEqual([
      'lock: is not up to date with . (tool, gone): run npm install',
    ]);
    expect(lockProblems('lock', { packages: {} }, manifests)).toHaveLength(1);
  });
});

describe('the build', () => {
  let dir = '';
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'toolkeel-build-'));
    mkdirSync(join(dir, 'src', 'deep'), { recursive: true });
    mkdirSync(join(dir, 'dist', 'deep'), { recursive: true });
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  test('removes only the output of deleted sources', () => {
    for (const file of ['src/kept.ts', 'src/deep/kept.ts', 'src/page.tsx', 'dist/.tsbuildinfo'])
      writeFileSync(join(dir, file), '');
    for (const name of ['kept', 'gone', 'page', 'deep/kept', 'deep/gone', 'gone.test'])
      for (const suffix of ['.js', '.d.ts']) writeFileSync(join(dir, 'dist', name + suffix), '');
    dropOrphans(dir);
    const left = readdirSync(join(dir, 'dist')).toSorted().join(' ');
    expect(left).toBe('.tsbuildinfo deep kept.d.ts kept.js page.d.ts page.js');
    expect(readdirSync(join(dir, 'dist', 'deep')).toSorted()).toEqual(['kept.d.ts', 'kept.js']);
  });

  test('accepts a package that was never built', () => {
    rmSync(join(dir, 'dist'), { recursive: true });
    expect(() => dropOrphans(dir)).not.toThrow();
  });
});

describe('the lock around an install', () => {
  const name = `test-${process.pid}`;
  const path = join(cacheDir, `${name}.lock`);
  afterEach(() => rmSync(path, { force: true }));

  test('admits one process at a time and is removed afterwards, also after a failure', async () => {
    let inside = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      most = Math.max(most, ++inside);
      await turn();
      inside--;
    };
    await Promise.all([withLock(name, work), withLock(name, work)]);
    expect(most).toBe(1);
    await expect(withLock(name, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(existsSync(path)).toBe(false);
  });

  test('is taken over from a process that has exited', async () => {
    const child = spawn(process.execPath, ['-e', '']);
    await new Promise((resolve) => child.on('exit', resolve));
    mkdirSync(cacheDir, { recursive: true });
    writeFileSync(path, String(child.pid));
    await expect(withLock(name, () => Promise.resolve('in'))).resolves.toBe('in');
  });
});

describe('a captured command', () => {
  test('returns its exit code and both streams', async () => {
    const script = "console.log('out'); console.error('err'); process.exitCode = 3";
    const { code, output, stdout } = await capture(node(['-e', script]));
    expect({ code, stdout }).toEqual({ code: 3, stdout: 'out\n' });
    expect(output).toContain('err');
  });

  test('fails when it does not exist', async () => {
    const { code, output } = await capture({ file: 'no-such-command', args: [] });
    expect(code).toBe(1);
    expect(output).toContain('no-such-command');
  });
});

describe('the packaged Node', () => {
  test('does not shadow the user’s Node', () => {
    expect(existsSync(join(cacheDir, '..', 'node_modules', '.bin', 'node'))).toBe(false);
  });
});

describe('a published package', () => {
  const temp = mkdtempSync(join(tmpdir(), 'toolkeel-stage-'));

  afterAll(() => rmSync(temp, { recursive: true }));

  test('has few files, all types, and the same exports', async () => {
    const source = inRoot('packages', 'kernel');
    const [staged = ''] = await stage(temp, [source]);
    const files = readdirSync(staged, { recursive: true, encoding: 'utf8' });
    expect(files.filter((file) => file.endsWith('.js')).length).toBeLessThan(10);
    expect(files).toContain(join('dist', 'engine', 'call.d.ts'));
    expect(files.filter((file) => /test|fixture|tsbuildinfo/.test(file))).toEqual([
      join('dist', 'testing'),
      ...files.filter((file) => file.startsWith(join('dist', 'testing') + sep)),
    ]);
    for (const entry of ['index.js', 'policy.js', 'testing/index.js']) {
      const names = async (dir: string): Promise<string[]> =>
        Object.keys(
          (await import(pathToFileURL(join(dir, 'dist', entry)).href)) as object,
        ).toSorted();
      expect(await names(staged)).toEqual(await names(source));
    }
  });
});

describe('the scripts in a clone without dependencies', () => {
  const empty = mkdtempSync(join(tmpdir(), 'toolkeel-scripts-'));
  afterAll(() => rmSync(empty, { recursive: true, force: true }));
  const entries = readdirSync(inRoot('scripts')).filter((file) => file.endsWith('.mjs'));
  const imported = entries.flatMap((file) =>
    importsOf(file, readFileSync(inRoot('scripts', file), 'utf8')).imports.map(
      ({ specifier = '?' }) => specifier,
    ),
  );

  test('import only Node and their own library', () => {
    expect(imported.filter((specifier) => !/^(node:|\.\/lib\/)/.test(specifier))).toEqual([]);
  });

  test('load', async () => {
    cpSync(inRoot('scripts'), join(empty, 'scripts'), { recursive: true });
    cpSync(inRoot('package.json'), join(empty, 'package.json'));
    const all = imported.map((specifier) => `import '${specifier}';`);
    const file = join(empty, 'scripts', 'all.mjs');
    writeFileSync(file, all.join('\n'));
    expect(await capture(node([file]))).toMatchObject({ code: 0, output: '' });
  });
});

describe('the second run on a newer Node', () => {
  const files = readdirSync(inRoot('packages'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts') && !file.includes('node_modules'))
    .map((file) => `packages/${file.replaceAll(sep, '/')}`);

  test.each(runtimeSuites)('has files for %s', (glob) => {
    const words = glob
      .replaceAll('.', String.raw`\.`)
      .replaceAll('*', '[^/]*')
      .replaceAll(/\{([^}]+)\}/g, (_, names: string) => `(${names.replaceAll(',', '|')})`);
    expect(files.filter((file) => new RegExp(`^${words}$`).test(file))).not.toEqual([]);
  });

  test.each(longest)('%s exists, to be started first', (file) => {
    expect(existsSync(inRoot(file))).toBe(true);
  });

  test('uses a newer Node, unless this one is the newest', async () => {
    const { stdout } = await capture(node(['--version']));
    const other = otherNode();
    if (other === undefined) expect(newerNode()).toBeTruthy();
    else expect((await capture({ file: other, args: ['--version'] })).stdout).not.toBe(stdout);
  });
});
