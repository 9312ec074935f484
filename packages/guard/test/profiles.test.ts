import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Message } from '../src/frame.js';
import { knownProfiles } from '../src/profiles.js';
import { createRig, type Rig, type RigClient } from '../src/rig.fixture.js';
import { npmServers, type NpmServer } from './support/npm-servers.js';

// Profiles of servers on npm: what they declare is compared with what repeated calls really do.

let dir = '';
let rig: Rig | undefined;
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'guard-profiles-')));
});
afterEach(async () => {
  await rig?.close();
  rig = undefined;
  rmSync(dir, { recursive: true, force: true });
});

const open = async (name: NpmServer, ...args: string[]): Promise<RigClient> => {
  rig = createRig({
    config: { command: process.execPath, args: [...npmServers[name], ...args] },
    env: {
      PATH: process.env['PATH'],
      HOME: dir,
      TOOLKEEL_DATA_DIR: join(dir, '.data'),
      MEMORY_FILE_PATH: join(dir, 'memory.json'),
      GIT_CONFIG_NOSYSTEM: '1',
      MCP_LOG_LEVEL: 'error',
    },
  });
  const client = await rig.client();
  await client.session.toolsListed();
  return client;
};
type Members = Readonly<Record<string, unknown>>;
const textOf = ({ result }: Message): string =>
  (result?.['content'] as readonly { text?: string }[] | undefined)
    ?.map(({ text }) => text)
    .join() ?? '';
const isFailure = ({ result, error }: Message): boolean =>
  error !== undefined || result?.['isError'] === true;
const effectOf = (name: string, args: Members): string | undefined =>
  rig?.guard.tools.find(({ listed }) => listed.name === name)?.decision.of(args);

interface Case {
  readonly tool: string;
  readonly args: Members;
  readonly effect: 'read' | 'idempotent' | 'once';
  /** Restores what the call needs; runs before the first call only. */
  readonly before?: () => unknown;
  /** What tells that a `once` call acts again, other than a changed state. */
  readonly again?: (first: Message, second: Message) => boolean;
}

/** Makes each call twice and compares the states before, between and after. */
async function repeatAll(
  client: RigClient,
  cases: readonly Case[],
  state: () => unknown,
): Promise<void> {
  for (const { tool, args, effect, before, again } of cases) {
    await before?.();
    const label = `${tool} ${JSON.stringify(args)}`;
    expect([label, effectOf(tool, args)]).toEqual([label, effect]);
    const start = await state();
    const first = await client.call(tool, args);
    expect([label, isFailure(first), textOf(first)]).toMatchObject([label, false, {}]);
    const between = await state();
    const second = await client.call(tool, args);
    const end = await state();
    if (effect === 'read') expect([label, between, end]).toEqual([label, start, start]);
    if (effect === 'idempotent') expect([label, end]).toEqual([label, between]);
    if (effect === 'once') {
      const actsAgain =
        JSON.stringify(end) !== JSON.stringify(between) ||
        isFailure(second) ||
        (again?.(first, second) ?? false);
      expect([label, actsAgain]).toEqual([label, true]);
    }
  }
}

/** Every tool of the profile is called. */
const expectAll = (
  server: string,
  cases: readonly Case[],
  except: readonly string[] = [],
): void => {
  const found = knownProfiles.find((profile) => profile.server === server);
  const called = new Set([...cases.map(({ tool }) => tool), ...except]);
  expect(Object.keys(found?.tools ?? { none: {} }).filter((name) => !called.has(name))).toEqual([]);
};

describe('the profile of', () => {
  it('server-memory holds for repeated calls', async () => {
    const client = await open('memory');
    const relations = [{ from: 'a', to: 'b', relationType: 'knows' }];
    const entity = (name: string) => ({ name, entityType: 't', observations: ['o'] });
    const cases: readonly Case[] = [
      {
        tool: 'create_entities',
        args: { entities: [entity('a'), entity('b')] },
        effect: 'idempotent',
      },
      { tool: 'create_relations', args: { relations }, effect: 'idempotent' },
      {
        tool: 'add_observations',
        args: { observations: [{ entityName: 'a', contents: ['p'] }] },
        effect: 'idempotent',
      },
      { tool: 'read_graph', args: {}, effect: 'read' },
      { tool: 'search_nodes', args: { query: 'a' }, effect: 'read' },
      { tool: 'open_nodes', args: { names: ['a'] }, effect: 'read' },
      {
        tool: 'delete_observations',
        args: { deletions: [{ entityName: 'a', observations: ['p'] }] },
        effect: 'idempotent',
      },
      { tool: 'delete_relations', args: { relations }, effect: 'idempotent' },
      { tool: 'delete_entities', args: { entityNames: ['a'] }, effect: 'idempotent' },
    ];
    const file = join(dir, 'memory.json');
    await repeatAll(client, cases, () => {
      try {
        return readFileSync(file, 'utf8');
      } catch {
        return '';
      }
    });
    expect(readFileSync(file, 'utf8')).toContain('"b"');
    expectAll('memory-server', cases);
  });

  it('server-filesystem holds for repeated calls', async () => {
    const root = join(dir, 'files');
    mkdirSync(root);
    const client = await open('filesystem', root);
    const path = join(root, 'a.txt');
    const edits = [{ oldText: 'x', newText: 'xx' }];
    const cases: readonly Case[] = [
      { tool: 'write_file', args: { path, content: 'x' }, effect: 'idempotent' },
      { tool: 'create_directory', args: { path: join(root, 'd', 'e') }, effect: 'idempotent' },
      { tool: 'edit_file', args: { path, edits, dryRun: true }, effect: 'read' },
      { tool: 'edit_file', args: { path, edits }, effect: 'once' },
      ...['read_file', 'read_text_file', 'get_file_info'].map((tool): Case => ({
        tool,
        args: { path },
        effect: 'read',
      })),
      ...['list_directory', 'list_directory_with_sizes', 'directory_tree'].map((tool): Case => ({
        tool,
        args: { path: root },
        effect: 'read',
      })),
      {
        tool: 'move_file',
        args: { source: path, destination: join(root, 'b.txt') },
        effect: 'once',
      },
    ];
    await repeatAll(client, cases, () => {
      const names: string[] = readdirSync(root, { recursive: true, encoding: 'utf8' });
      const read = (name: string): string =>
        name.endsWith('.txt') ? readFileSync(join(root, name), 'utf8') : '';
      return Object.fromEntries(names.map((name) => [name, read(name)]));
    });
    expectAll('secure-filesystem-server', cases);
  });

  it('server-sequential-thinking corrects its readOnlyHint', async () => {
    const client = await open('thinking');
    const args = { thought: 't', nextThoughtNeeded: true, thoughtNumber: 1, totalThoughts: 2 };
    const length = (message: Message): unknown =>
      (JSON.parse(textOf(message)) as Members)['thoughtHistoryLength'];
    const cases: readonly Case[] = [
      {
        tool: 'sequentialthinking',
        args,
        effect: 'once',
        again: (first, second) => length(first) === 1 && length(second) === 2,
      },
    ];
    await repeatAll(client, cases, () => '');
    expectAll('sequential-thinking-server', cases);
  });

  it('server-everything holds for repeated calls', async () => {
    const client = await open('everything');
    const differs = (first: Message, second: Message): boolean => textOf(first) !== textOf(second);
    const cases: readonly Case[] = [
      { tool: 'echo', args: { message: 'm' }, effect: 'read' },
      {
        tool: 'gzip-file-as-resource',
        args: { name: 'a.gz', data: 'data:text/plain;base64,aGk=', outputType: 'resourceLink' },
        effect: 'idempotent',
      },
      { tool: 'toggle-simulated-logging', args: {}, effect: 'once', again: differs },
      { tool: 'toggle-subscriber-updates', args: {}, effect: 'once', again: differs },
    ];
    await repeatAll(client, cases, async () => (await client.ask('resources/list')).result);
    // `once` is never wrong: this tool needs a client that supports tasks.
    expectAll('mcp-servers/everything', cases, ['simulate-research-query']);
  });

  it('@cyanheads/git-mcp-server holds for repeated calls in a repository', async () => {
    const repo = join(dir, 'repo');
    const git = (...args: string[]): string =>
      execFileSync('git', args, {
        cwd: repo,
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], HOME: dir, GIT_CONFIG_NOSYSTEM: '1' },
      });
    mkdirSync(repo);
    writeFileSync(
      join(dir, '.gitconfig'),
      '[user]\nname = n\nemail = n@example.com\n[init]\ndefaultBranch = main\n',
    );
    git('init');
    writeFileSync(join(repo, 'a.txt'), 'a');
    git('add', '.');
    git('commit', '-m', 'first');
    const client = await open('git');
    const state = (): unknown => [
      git('for-each-ref'),
      git('status', '--porcelain=v2', '--branch'),
      readFileSync(join(repo, '.git', 'config'), 'utf8'),
      readdirSync(join(repo, '.git')).includes('worktrees'),
    ];
    const path = repo;
    const change = (): void => writeFileSync(join(repo, 'a.txt'), `a${Math.random()}`);
    const cases: readonly Case[] = [
      { tool: 'git_set_working_dir', args: { path }, effect: 'idempotent' },
      { tool: 'git_init', args: { path }, effect: 'idempotent' },
      { tool: 'git_status', args: { path }, effect: 'read' },
      { tool: 'git_log', args: { path }, effect: 'read' },
      { tool: 'git_diff', args: { path }, effect: 'read', before: change },
      { tool: 'git_add', args: { path, paths: ['a.txt'] }, effect: 'idempotent' },
      { tool: 'git_commit', args: { path, message: 'second', allowEmpty: true }, effect: 'once' },
      { tool: 'git_branch', args: { path, mode: 'create', branchName: 'side' }, effect: 'once' },
      { tool: 'git_branch', args: { path, mode: 'list' }, effect: 'read' },
      { tool: 'git_branch', args: { path, mode: 'show-current' }, effect: 'read' },
      {
        tool: 'git_checkout',
        args: { path, target: 'side', createBranch: false },
        effect: 'idempotent',
      },
      { tool: 'git_tag', args: { path, mode: 'create', tagName: 'v1' }, effect: 'once' },
      { tool: 'git_tag', args: { path, mode: 'list' }, effect: 'read' },
      {
        tool: 'git_remote',
        args: { path, mode: 'add', name: 'o', url: 'https://example.com/r.git' },
        effect: 'once',
      },
      { tool: 'git_remote', args: { path, mode: 'list' }, effect: 'read' },
      { tool: 'git_stash', args: { path, mode: 'list' }, effect: 'read', before: change },
      { tool: 'git_worktree', args: { path, mode: 'list' }, effect: 'read' },
      { tool: 'git_clean', args: { path, force: true, dryRun: true }, effect: 'read' },
    ];
    await repeatAll(client, cases, state);
    expectAll('@cyanheads/git-mcp-server', cases);
  });
});
