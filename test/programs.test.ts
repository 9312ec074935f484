import { expect, test } from 'vitest';
import { ensurePostgres } from '../scripts/lib/postgres.mjs';
import { ensurePromtool } from '../scripts/lib/promtool.mjs';

const machine = (changes: Partial<Parameters<typeof ensurePostgres>[0]> = {}) => {
  const commands: string[] = [];
  let isThere = false;
  return {
    commands,
    env: {},
    isRoot: true,
    isInstalled: () => isThere,
    run: async (args: string[]) => {
      commands.push(args[0]!);
      isThere ||= args.includes('postgresql') && commands.includes('update');
      return { code: isThere || args[0] === 'update' ? 0 : 100, output: '' };
    },
    ...changes,
  };
};

test('PostgreSQL is installed where there is none and we may', async () => {
  const fresh = machine();
  await ensurePostgres(fresh);
  expect(fresh.commands).toEqual(['install', 'update', 'install']);
  expect(fresh.isInstalled()).toBe(true);
});

test('nothing is installed where it is there, named, or not ours to install', async () => {
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

const withoutPromtool = (changes: Partial<Parameters<typeof ensurePromtool>[0]> = {}) => {
  const commands: string[] = [];
  let path: string | undefined;
  return {
    commands,
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

test('promtool is unpacked from its package, after an update of the lists where that is needed', async () => {
  const fresh = withoutPromtool();
  await ensurePromtool(fresh);
  expect(fresh.commands).toEqual(['download', 'update', 'download']);
  expect(fresh.find()).toBe('/cache/promtool');
});

test('promtool is not downloaded where it is installed, or where there is no apt', async () => {
  for (const changes of [{ find: () => '/usr/bin/promtool' }, { hasApt: false }]) {
    const other = withoutPromtool(changes);
    await ensurePromtool(other);
    expect(other.commands).toEqual([]);
  }
});

test('without root the package lists stay as they are, and promtool is missing', async () => {
  const user = withoutPromtool({ isRoot: false });
  await ensurePromtool(user);
  expect(user.commands).toEqual(['download']);
  expect(user.find()).toBeUndefined();
});
