import { expect, test } from 'vitest';
import { ensureChromium } from '../scripts/lib/chromium.mjs';
import { ensurePostgres } from '../scripts/lib/postgres.mjs';
import { ensurePromtool } from '../scripts/lib/promtool.mjs';

const machine = (changes: Partial<Parameters<typeof ensurePostgres>[0]> = {}) => {
  const commands: string[] = [];
  const said: string[] = [];
  let isInstalled = false;
  return {
    commands,
    said,
    print: (text: string) => void said.push(text),
    env: {},
    isRoot: true,
    isInstalled: () => isInstalled,
    run: async (args: string[]) => {
      commands.push(args[0]!);
      isInstalled ||= args.includes('postgresql') && commands.includes('update');
      return { code: isInstalled || args[0] === 'update' ? 0 : 100, output: '' };
    },
    ...changes,
  };
};

test('PostgreSQL is installed if it is missing and the process is root', async () => {
  const fresh = machine();
  await ensurePostgres(fresh);
  expect(fresh.commands).toEqual(['install', 'update', 'install']);
  expect(fresh.isInstalled()).toBe(true);
});

test('PostgreSQL is not installed if it exists, a URL is configured, or the process is not root', async () => {
  for (const changes of [
    { isInstalled: () => true },
    { env: { TOOLKEEL_TEST_POSTGRES_URL: 'postgres://localhost/test' } },
    { isRoot: false },
  ]) {
    const other = machine(changes);
    await ensurePostgres(other);
    expect(other.commands).toEqual([]);
  }
});

test('PostgreSQL is asked for before the tests if it cannot be installed', async () => {
  const user = machine({ isRoot: false });
  await ensurePostgres(user);
  expect(user.said).toEqual([
    expect.stringMatching(/^PostgreSQL is missing\. Install it \(on Debian/),
  ]);
  const broken = machine({ run: async () => ({ code: 100, output: 'no network' }) });
  await ensurePostgres(broken);
  expect(broken.said).toEqual([expect.stringMatching(/failed:\nno network\nInstall it/)]);
});

test('Chromium is installed like PostgreSQL, or asked for', async () => {
  const fresh = machine({ run: async () => ({ code: 0, output: '' }) });
  await ensureChromium(fresh);
  expect(fresh.said).toEqual([]);
  const user = machine({ isRoot: false });
  await ensureChromium(user);
  expect(user.said).toEqual([
    expect.stringMatching(/^Chromium is missing\. .*TOOLKEEL_TEST_CHROMIUM/),
  ]);
  expect(user.commands).toEqual([]);
});

const withoutPromtool = (changes: Partial<Parameters<typeof ensurePromtool>[0]> = {}) => {
  const commands: string[] = [];
  const said: string[] = [];
  let path: string | undefined;
  return {
    commands,
    said,
    print: (text: string) => void said.push(text),
    find: () => path,
    hasApt: true,
    isRoot: true,
    run: async (_file: string, args: string[]) => {
      commands.push(args[0]!);
      return { code: args[0] === 'update' || commands.includes('update') ? 0 : 100, output: '' };
    },
    unpack: async () => {
      path = '/cache/promtool';
      return { code: 0, output: '' };
    },
    ...changes,
  };
};

test('promtool is unpacked from its package, after an update of the package lists if necessary', async () => {
  const fresh = withoutPromtool();
  await ensurePromtool(fresh);
  expect(fresh.commands).toEqual(['download', 'update', 'download']);
  expect(fresh.find()).toBe('/cache/promtool');
});

test('promtool is not downloaded if it is installed or apt is missing', async () => {
  for (const changes of [{ find: () => '/usr/bin/promtool' }, { hasApt: false }]) {
    const other = withoutPromtool(changes);
    await ensurePromtool(other);
    expect(other.commands).toEqual([]);
  }
});

test('without root the package lists are not updated, and promtool remains missing', async () => {
  const user = withoutPromtool({ isRoot: false });
  await ensurePromtool(user);
  expect(user.commands).toEqual(['download']);
  expect(user.find()).toBeUndefined();
  expect(user.said).toEqual([expect.stringMatching(/^Could not get promtool/)]);
  const mac = withoutPromtool({ hasApt: false });
  await ensurePromtool(mac);
  expect(mac.said).toEqual([expect.stringMatching(/^promtool is missing\. Put it on the PATH/)]);
});
