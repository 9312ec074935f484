import type { Reconciliation } from '@toolkeel/contract';
import { describe, expect, test } from 'vitest';
import { closeAfterEach, world, type Data, type Rig, type World } from './support/rig.js';

closeAfterEach();

/** After this time, GitHub does not execute a request any more. */
const WINDOW_MS = 33_000;

/** Another process, some time later. */
async function later({ another }: World): Promise<Rig> {
  const rig = await another();
  rig.later(WINDOW_MS);
  return rig;
}

const commitOf = (repo: string, content: string | undefined) => ({
  repo,
  branch: 'main',
  message: 'Update flag',
  files: [{ path: 'flag.txt', ...(content !== undefined && { content }) }],
});

/** Reads an operation back as another process would, which knows only its arguments and its time. */
async function readBack(
  rig: Rig,
  name: string,
  args: object,
  sentAt = Date.now(),
): Promise<Reconciliation> {
  const tool = rig.instance.tools.find((one) => one.name === `github_${name}`);
  const operation = { id: 'op_other', account: 'a', args: args as Data, sentAt };
  const result = await tool?.reconcile?.readBack(
    { ...operation, others: async () => [] },
    {
      signal: new AbortController().signal,
      deadline: performance.now() + 1_000,
      correlationId: 'c',
      progress: () => undefined,
      noteRetry: () => undefined,
    },
  );
  return result ?? { found: 'unknown' };
}

describe('a read-back accepts only what the operation made', () => {
  test('an earlier commit of the same message and content is not reported as the lost one', async () => {
    const here = await world();
    const { rig, repo, github, another } = here;
    for (const content of ['on', 'off']) await rig.data('commit_files', commitOf(repo, content));
    const again = commitOf(repo, 'on');
    for (const next of [await another(), await later(here)]) {
      github.setFaults([{ kind: 'http-502', routes: ['update-ref'], times: 1 }]);
      expect(await next.error('commit_files', again)).toMatchObject({ code: 'outcome_unknown' });
      expect(github.readFile('main', 'flag.txt')).toBe('off');
    }
    const last = await another();
    expect(await last.data('commit_files', again)).not.toHaveProperty('replayed');
    expect(github.readFile('main', 'flag.txt')).toBe('on');
  });

  test('an earlier deletion is not reported as the lost one', async () => {
    const { rig, repo, github, another } = await world();
    for (const content of ['on', undefined, 'on again'])
      await rig.data('commit_files', commitOf(repo, content));
    const next = await another();
    github.setFaults([{ kind: 'http-502', routes: ['update-ref'], times: 1 }]);
    expect(await next.error('commit_files', commitOf(repo, undefined))).toMatchObject({
      code: 'outcome_unknown',
    });
    expect(github.readFile('main', 'flag.txt')).toBe('on again');
  });

  test('another process finds a commit by time and content, and only while the branch has it', async () => {
    const { rig, repo, another } = await world();
    const sentAt = Date.now();
    const { sha } = await rig.data('commit_files', commitOf(repo, 'on'));
    const other = await another();
    const look = (since: number) => readBack(other, 'commit_files', commitOf(repo, 'on'), since);
    expect(await look(sentAt)).toMatchObject({ found: 'executed', data: { sha } });
    expect(await look(sentAt + WINDOW_MS)).toEqual({ found: 'absent' });
    await rig.data('commit_files', commitOf(repo, 'off'));
    expect(await look(sentAt)).toEqual({ found: 'unknown' });
  });

  test('a pull request that was closed before is not reported as the lost one', async () => {
    const here = await world();
    const { rig, repo, github } = here;
    const pull = { repo, title: 'Tides', head: github.landmarks.featureBranch, base: 'main' };
    const first = await rig.data('create_pull', pull);
    const { number } = first['pull'] as unknown as { number: number };
    await rig.data('update_pull', { repo, number, state: 'closed' });
    const next = await later(here);
    github.setFaults([{ kind: 'http-502', routes: ['create-pull'], times: 1 }]);
    expect(await next.error('create_pull', pull)).toMatchObject({ code: 'outcome_unknown' });
    next.later(WINDOW_MS);
    expect(await next.data('create_pull', pull)).toMatchObject({ pull: { state: 'open' } });
    expect(github.commits({ kind: 'pull.created' })).toHaveLength(2);
  });

  test('a pull request of other content or state leaves the outcome unknown', async () => {
    const { rig, repo, github } = await world();
    const pull = { repo, title: 'Tides', body: 'High', head: github.landmarks.featureBranch };
    const asked = { ...pull, base: 'main', draft: false };
    const created = await rig.data('create_pull', { ...pull, base: 'main' });
    expect(await readBack(rig, 'create_pull', asked)).toMatchObject({ found: 'executed' });
    for (const other of [{ title: 'Ebb' }, { body: 'Low' }, { draft: true }])
      expect(await readBack(rig, 'create_pull', { ...asked, ...other })).toEqual({
        found: 'unknown',
      });
    const { number } = created['pull'] as unknown as { number: number };
    await rig.data('update_pull', { repo, number, state: 'closed' });
    expect(await readBack(rig, 'create_pull', asked)).toEqual({ found: 'unknown' });
  });

  test('an older release of the tag is not reported as the lost one', async () => {
    const { rig, repo, github } = await world();
    const release = { repo, tag: 'v1.0.0', name: 'Mine', body: 'My notes', prerelease: true };
    github.setFaults([{ kind: 'http-502', routes: ['create-release'], times: 1 }]);
    expect(await rig.error('create_release', release)).toMatchObject({ code: 'outcome_unknown' });
    rig.later(WINDOW_MS);
    expect(await rig.data('create_release', release)).toMatchObject({
      replayed: true,
      release: { name: 'First tide' },
      warnings: [expect.stringContaining('Not as requested: name, body, prerelease')],
    });
  });

  test('a release of other content leaves the outcome unknown', async () => {
    const { rig, repo } = await world();
    const release = { repo, tag: 'v9', body: 'Notes', draft: false, prerelease: false };
    await rig.data('create_release', release);
    expect(await readBack(rig, 'create_release', release)).toMatchObject({ found: 'executed' });
    const other = { ...release, body: 'Other notes' };
    expect(await readBack(rig, 'create_release', other)).toEqual({ found: 'unknown' });
  });

  test('a branch is found although the ref that it was made from has moved', async () => {
    const { rig, repo, github } = await world();
    github.setFaults([
      { kind: 'acted-http-502', routes: ['create-ref'], times: 1 },
      { kind: 'http-502', routes: ['git-ref'], times: 1 },
    ]);
    const branch = { repo, branch: 'topic' };
    expect(await rig.error('create_branch', branch)).toMatchObject({ code: 'outcome_unknown' });
    github.moveBranch('main', 'README.md');
    rig.later(WINDOW_MS);
    expect(await rig.data('create_branch', branch)).toMatchObject({ branch: 'topic' });
    expect(github.commits({ kind: 'ref.created' })).toHaveLength(1);
  });
});

describe('a repeated create says what it did not apply', () => {
  test('a pull request', async () => {
    const { rig, repo, github } = await world();
    const { featureBranch: head, collaborator } = github.landmarks;
    const pull = { repo, title: 'Tides', body: 'High', head, base: 'main' };
    const first = await rig.data('create_pull', pull);
    const other = { title: 'Ebb', body: 'Low', draft: true, labels: ['bug'] };
    const again = { ...pull, ...other, reviewers: [collaborator], assignees: [collaborator] };
    expect(await rig.data('create_pull', again)).toEqual({
      pull: first['pull'],
      replayed: true,
      warnings: [
        'The pull request existed before and was not changed. Not as requested: title, body, draft, reviewers, labels, assignees.',
      ],
    });
    const same = await rig.data('create_pull', { ...pull, title: ' Tides ' });
    expect(same).toEqual({ pull: first['pull'], replayed: true });
  });

  test('a release', async () => {
    const { rig, repo } = await world();
    await rig.data('create_release', { repo, tag: 'v9', body: 'One', target: 'main' });
    const other = { body: 'Two', name: 'Other', prerelease: true };
    expect(await rig.data('create_release', { repo, tag: 'v9', ...other })).toMatchObject({
      replayed: true,
      release: { body: 'One' },
      warnings: [expect.stringContaining('Not as requested: name, body, prerelease.')],
    });
  });
});
