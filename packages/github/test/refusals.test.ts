import { describe, expect, test } from 'vitest';
import { closeAfterEach, world } from './support/rig.js';

closeAfterEach();

describe('refused before anything is sent', () => {
  test('an update without a change', async () => {
    const { rig, repo, github } = await world();
    await rig.data('get_context');
    const before = github.log().length;
    const { pull: number } = github.landmarks;
    for (const [tool, args] of [
      ['update_issue', {}],
      ['update_pull', {}],
      ['update_pull', { add_reviewers: [], remove_reviewers: [] }],
    ] as const)
      expect(await rig.error(tool, { repo, number, ...args })).toMatchObject({
        code: 'invalid_input',
        outcome: 'not_executed',
        message: expect.stringContaining('name a change'),
      });
    expect(github.log()).toHaveLength(before);
    // To remove all labels is a change.
    expect(await rig.data('update_issue', { repo, number, labels: [] })).toMatchObject({
      issue: { labels: [] },
    });
  });

  test('a state reason without a state, which GitHub would ignore', async () => {
    const { rig, repo, github } = await world();
    const args = { repo, number: 1, state_reason: 'not_planned' };
    expect(await rig.error('update_issue', args)).toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('state_reason'),
    });
    expect(github.commits()).toEqual([]);
    expect(await rig.data('update_issue', { ...args, state: 'closed' })).toMatchObject({
      issue: { state: 'closed', state_reason: 'not_planned' },
    });
  });

  test('a commit that names a path both as a file and as a folder', async () => {
    const { rig, repo, github } = await world();
    await rig.data('get_context');
    const before = github.log().length;
    const files = [
      { path: 'a/b', content: 'x' },
      { path: 'a', content: 'y' },
    ];
    const args = { repo, branch: 'main', message: 'Both', files };
    expect(await rig.error('commit_files', args)).toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('"a"'),
    });
    expect(github.log()).toHaveLength(before);
  });
});

describe('a commit that would remove files which it does not name', () => {
  const commit = (path: string, message: string) => ({
    branch: 'main',
    message,
    files: [{ path, content: 'x' }],
  });

  test('is refused where a file would replace a folder, or a folder a file', async () => {
    const { rig, repo, github } = await world();
    for (const [path, message] of [
      ['src', 'A file over a folder'],
      ['README.md/x', 'A folder over a file'],
    ] as const)
      expect(await rig.error('commit_files', { repo, ...commit(path, message) })).toMatchObject({
        code: 'github_conflict',
        outcome: 'not_executed',
        message: expect.stringContaining(path.split('/')[0] ?? ''),
      });
    expect(github.commits()).toEqual([]);
  });

  test('is made where the same commit deletes the file that is in the way', async () => {
    const { rig, repo, github } = await world();
    const files = [{ path: 'README.md' }, { path: 'README.md/x', content: 'x' }];
    await rig.data('commit_files', { repo, branch: 'main', message: 'Move', files });
    expect(github.readFile('main', 'README.md/x')).toBe('x');
    expect(github.readFile('main', 'README.md')).toBeUndefined();
  });
});

test('a sub-issue that is named twice is added once', async () => {
  const { rig, repo, github } = await world();
  expect(await rig.data('relate_issues', { repo, number: 1, add: [2, 2] })).toMatchObject({
    added: [2],
    sub_issues: [2],
  });
  expect(github.commits({ kind: 'sub-issue.added' })).toHaveLength(1);
});

test('a review that says nothing is refused by GitHub, not made to say something by its marker', async () => {
  const { rig, repo, github } = await world();
  const args = { repo, number: github.landmarks.pull, event: 'comment' };
  expect(await rig.error('submit_review', args)).toMatchObject({ code: 'upstream_rejected' });
  expect(github.commits({ kind: 'review.created' })).toEqual([]);
});
