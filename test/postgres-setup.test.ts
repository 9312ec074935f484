import { expect, test } from 'vitest';
import { ensurePostgres } from '../scripts/lib/postgres.mjs';

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
