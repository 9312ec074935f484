import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, expect } from 'vitest';
import type { Message } from '../src/frame.js';
import { textOf, useServerRig, type Repeated } from './support/server-rig.js';

// Profiles of servers on npm: what they declare is compared with what repeated calls really do.

const { dir, open, expectEffects } = useServerRig();

describe('the profile of', () => {
  it('server-memory holds for repeated calls', async () => {
    const file = join(dir(), 'memory.json');
    await open('memory', { env: { MEMORY_FILE_PATH: file } });
    const relations = [{ from: 'a', to: 'b', relationType: 'knows' }];
    const entity = (name: string) => ({ name, entityType: 't', observations: ['o'] });
    const cases: readonly Repeated[] = [
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
    await expectEffects(cases, () => {
      try {
        return readFileSync(file, 'utf8');
      } catch {
        return '';
      }
    });
    expect(readFileSync(file, 'utf8')).toContain('"b"');
  });

  it('server-filesystem holds for repeated calls', async () => {
    const root = join(dir(), 'files');
    mkdirSync(root);
    await open('filesystem', { args: [root] });
    const path = join(root, 'a.txt');
    const edits = [{ oldText: 'x', newText: 'xx' }];
    const cases: readonly Repeated[] = [
      { tool: 'write_file', args: { path, content: 'x' }, effect: 'idempotent' },
      { tool: 'create_directory', args: { path: join(root, 'd', 'e') }, effect: 'idempotent' },
      { tool: 'edit_file', args: { path, edits, dryRun: true }, effect: 'read' },
      { tool: 'edit_file', args: { path, edits }, effect: 'once' },
      ...['read_file', 'read_text_file', 'get_file_info'].map((tool): Repeated => ({
        tool,
        args: { path },
        effect: 'read',
      })),
      ...['list_directory', 'list_directory_with_sizes', 'directory_tree'].map(
        (tool): Repeated => ({
          tool,
          args: { path: root },
          effect: 'read',
        }),
      ),
      {
        tool: 'move_file',
        args: { source: path, destination: join(root, 'b.txt') },
        effect: 'once',
      },
    ];
    await expectEffects(cases, () => {
      const names: string[] = readdirSync(root, { recursive: true, encoding: 'utf8' });
      const read = (name: string): string =>
        name.endsWith('.txt') ? readFileSync(join(root, name), 'utf8') : '';
      return Object.fromEntries(names.map((name) => [name, read(name)]));
    });
  });

  it('server-sequential-thinking corrects its readOnlyHint', async () => {
    await open('thinking');
    const args = { thought: 't', nextThoughtNeeded: true, thoughtNumber: 1, totalThoughts: 2 };
    const length = (message: Message): unknown =>
      (JSON.parse(textOf(message)) as Readonly<Record<string, unknown>>)['thoughtHistoryLength'];
    const cases: readonly Repeated[] = [
      {
        tool: 'sequentialthinking',
        args,
        effect: 'once',
        again: (first, second) => length(first) === 1 && length(second) === 2,
      },
    ];
    await expectEffects(cases, () => '');
  });

  it('server-everything holds for repeated calls', async () => {
    const client = await open('everything');
    const differs = (first: Message, second: Message): boolean => textOf(first) !== textOf(second);
    const cases: readonly Repeated[] = [
      { tool: 'echo', args: { message: 'm' }, effect: 'read' },
      {
        tool: 'gzip-file-as-resource',
        args: { name: 'a.gz', data: 'data:text/plain;base64,aGk=', outputType: 'resourceLink' },
        effect: 'idempotent',
      },
      { tool: 'toggle-simulated-logging', args: {}, effect: 'once', again: differs },
      { tool: 'toggle-subscriber-updates', args: {}, effect: 'once', again: differs },
    ];
    // The other one needs a client that supports tasks.
    const except = ['simulate-research-query'];
    await expectEffects(cases, async () => (await client.ask('resources/list')).result, except);
  });

  it('@cyanheads/git-mcp-server holds for repeated calls in a repository', async () => {
    const repo = join(dir(), 'repo');
    const git = (...args: string[]): string =>
      execFileSync('git', args, {
        cwd: repo,
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], HOME: dir(), GIT_CONFIG_NOSYSTEM: '1' },
      });
    mkdirSync(repo);
    writeFileSync(
      join(dir(), '.gitconfig'),
      '[user]\nname = n\nemail = n@example.com\n[init]\ndefaultBranch = main\n',
    );
    git('init');
    writeFileSync(join(repo, 'a.txt'), 'a');
    git('add', '.');
    git('commit', '-m', 'first');
    await open('git', { env: { GIT_CONFIG_NOSYSTEM: '1', MCP_LOG_LEVEL: 'error' } });
    const state = (): unknown => [
      git('for-each-ref'),
      git('status', '--porcelain=v2', '--branch'),
      readFileSync(join(repo, '.git', 'config'), 'utf8'),
      readdirSync(join(repo, '.git')).includes('worktrees'),
    ];
    const path = repo;
    const change = (): void => writeFileSync(join(repo, 'a.txt'), `a${Math.random()}`);
    const cases: readonly Repeated[] = [
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
    await expectEffects(cases, state);
  });
});
