import { describe, expect, test } from 'vitest';
import { startScriptedUpstream } from '@toolkeel/pack-kit/testing';
import { EtagCache } from '../src/client/etag-cache.js';
import {
  allPages,
  closeAfterEach,
  createRig,
  onClose,
  world,
  type Data,
  type World,
} from './support/rig.js';

closeAfterEach();

const endless = 1_000_000;
const unlimited = {
  pointsPerMinute: endless,
  contentPerMinute: endless,
  contentPerHour: endless,
};

/** A pull request whose last thread has many comments. */
async function longThread(replies: number, length: number) {
  const pacing = { mutationIntervalMs: 0, ...unlimited };
  const here = await world({ secondary: unlimited }, { pacing });
  const { rig, repo, github } = here;
  const { pull: number } = github.landmarks;
  const args = { repo, number, kind: 'threads' };
  const threads = (await rig.data('get_pull_discussion', args))['entries'] as unknown as Thread[];
  const comment_id = threads[0]?.comments[0]?.comment_id;
  for (let count = 0; count < replies; count += 1) {
    const body = `${count} ${'y'.repeat(length)}`;
    await rig.data('reply_review_comment', { repo, number, comment_id, body });
  }
  return { ...here, args, threads };
}

interface Thread {
  readonly thread_id: string;
  readonly comments: readonly { readonly comment_id: number; readonly body: string }[];
}

const idsOf = (entries: readonly unknown[], thread?: Thread): number[] =>
  (entries as Thread[])
    .filter(({ thread_id }) => thread === undefined || thread_id === thread.thread_id)
    .flatMap(({ comments }) => comments.map(({ comment_id }) => comment_id));

describe('review threads', () => {
  test('a thread larger than an answer comes in parts, and those after it follow', async () => {
    const { rig, args, threads } = await longThread(15, 3900);
    const { all, pages } = await allPages(rig, 'get_pull_discussion', args, 'entries');
    expect(pages).toBeGreaterThan(1);
    expect(idsOf(all, threads[0])).toHaveLength(threads[0]!.comments.length + 15);
    expect(new Set(idsOf(all)).size).toBe(idsOf(all).length);
    for (const thread of threads.slice(1)) expect(idsOf(all, thread)).toEqual(idsOf([thread]));
  });

  test('comments beyond the first 50 of a thread are reached', async () => {
    const { rig, args, threads } = await longThread(180, 10);
    const { all } = await allPages(rig, 'get_pull_discussion', args, 'entries');
    expect(idsOf(all, threads[0])).toHaveLength(threads[0]!.comments.length + 180);
    expect(new Set(idsOf(all)).size).toBe(idsOf(all).length);
  }, 60_000);

  test('a token works with a smaller limit: no page is empty and nothing repeats', async () => {
    const { rig, args } = await longThread(15, 3900);
    const first = await rig.run('get_pull_discussion', { ...args, limit: 3 });
    const next_token = first.success ? first.meta.pagination?.next_token : undefined;
    const seen = first.success ? idsOf(first.data['entries'] as unknown as Data[]) : [];
    for (let token = next_token; token !== undefined;) {
      const page = await rig.run('get_pull_discussion', { ...args, limit: 1, next_token: token });
      if (!page.success) throw new Error(JSON.stringify(page.error));
      const ids = idsOf(page.data['entries'] as unknown as Data[]);
      expect(ids).not.toEqual([]);
      seen.push(...ids);
      token = page.meta.pagination?.next_token;
    }
    const { all } = await allPages(rig, 'get_pull_discussion', args, 'entries');
    expect(seen).toEqual(idsOf(all));
  });
});

describe('a comparison', () => {
  const pathsOf = ({ files }: Data): string[] =>
    (files as unknown as { path: string }[]).map(({ path }) => path);

  const firstPage = async ({ rig, repo }: World) => {
    const args = { repo, base: 'main', head: 'many-files', limit: 3 };
    const envelope = await rig.run('compare', args);
    if (!envelope.success) throw new Error(JSON.stringify(envelope.error));
    const next_token = envelope.meta.pagination?.next_token;
    return { paths: pathsOf(envelope.data), next: { ...args, next_token } };
  };

  test('continues with the commits of its first page when the branch has moved', async () => {
    const here = await world();
    const { github, another } = here;
    const { paths, next } = await firstPage(here);
    const expected = pathsOf(await here.rig.data('compare', { ...next, limit: 6 }));
    github.moveBranch('many-files', 'a-first.txt');
    const other = await another();
    for (const rig of [here.rig, other]) {
      const { paths: moved } = await firstPage({ ...here, rig });
      expect(moved).toContain('a-first.txt');
      expect(pathsOf(await rig.data('compare', { ...next, limit: 6 }))).toEqual(expected);
    }
    expect(expected.filter((path) => paths.includes(path))).toEqual([]);
  });

  test('has short titles, however long those of the commits are', async () => {
    const { rig, repo, github } = await world();
    const branch = github.landmarks.featureBranch;
    const files = [{ path: 'long.txt', content: 'x' }];
    const message = 'long '.repeat(12_000);
    await rig.data('commit_files', { repo, branch, message, files });
    const { commits } = await rig.data('compare', { repo, base: 'main', head: branch });
    const titles = (commits as unknown as { title: string }[]).map(({ title }) => title.length);
    expect(Math.max(...titles)).toBeLessThanOrEqual(300);
  });
});

describe('single reads', () => {
  test('an empty file has no line, and lines beyond the end are not an empty success', async () => {
    const { rig, repo, github } = await world();
    const read = (path: string, more = {}) => rig.data('read_file', { repo, path, ...more });
    expect(await read(github.landmarks.emptyFile)).toMatchObject({ text: '', total_lines: 0 });
    const beyond = await read('README.md', { start_line: 10 });
    expect(beyond).toMatchObject({
      total_lines: 3,
      warnings: ['There is no such line: 3 in all.'],
    });
  });

  test('more checks than were read are reported', async () => {
    const sha = 'a'.repeat(40);
    const pull = { number: 1, head: { sha, ref: 'x' }, base: { ref: 'main' }, labels: [] };
    const runs = Array.from({ length: 100 }, () => ({ name: 'lint', conclusion: 'success' }));
    const github = await startScriptedUpstream(({ path }) =>
      path.includes('check-runs')
        ? { json: { total_count: 130, check_runs: runs } }
        : { json: pull },
    );
    onClose(() => github.close());
    const config = { baseUrl: github.origin, token: { env: 'TOKEN' } };
    const rig = await createRig(config, { TOKEN: 'ghp_x' });
    expect(await rig.data('get_pull', { repo: 'o/r', number: 1 })).toMatchObject({
      checks: { total: 130, passed: 100 },
      warnings: ['Only 100 of 130 checks were counted.'],
    });
  });

  test('the cache of answers is bounded by its size', () => {
    const cache = new EtagCache(64_000);
    const text = 'x'.repeat(900);
    for (let count = 0; count < 200; count += 1)
      cache.set(`k${count}`, { etag: 'e', text, next: undefined });
    expect(cache.size).toBeLessThanOrEqual(64_000);
    expect([cache.get('k0'), cache.get('k199')?.text]).toEqual([undefined, text]);
    cache.set('k199', { etag: 'e', text: 'x'.repeat(2_000), next: undefined });
    expect(cache.get('k199')).toBeUndefined();
  });
});
