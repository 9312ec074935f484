import { afterEach, describe, expect, it } from 'vitest';
import { errorReader } from '../src/faults.js';
import { frameOf, type Message, type ResponseFrame } from '../src/frame.js';
import { knownProfiles } from '../src/profiles.js';
import { preload, startApi, type ApiDouble } from './support/api-double.js';
import { braveWorld, notionWorld, slackWorld, type ApiWorld } from './support/api-worlds.js';
import { githubWorld } from './support/github-world.js';
import { packageOf, type NpmServer } from './support/npm-servers.js';
import { textOf, useServerRig, type Repeated } from './support/server-rig.js';

// Profiles of servers that call a web API: the server is the real one, the API is a double on loopback.

const { open, expectEffects } = useServerRig();
let api: ApiDouble | undefined;
afterEach(async () => {
  await api?.close();
  api = undefined;
});

const ID = '01234567-89ab-4def-8123-456789abcdef';
/** Of the API; no server passes it on. */
const RETRY_AFTER = { 'retry-after': '30' };

const start = async ({ routes }: ApiWorld, host?: string): Promise<ApiDouble> =>
  (api = await startApi(routes, host));

/** What the guard makes of an error, by the rules of the profile and its own. */
const faultOf = (name: NpmServer, answer: Message, tool: string) => {
  const profile = knownProfiles.find((one) => one.package === packageOf(name));
  const rules = profile?.errors.map(({ rule }) => rule);
  return errorReader(rules).fault(frameOf(answer) as ResponseFrame, tool);
};

describe('the profile of', () => {
  it('server-slack holds for repeated calls', async () => {
    const world = slackWorld();
    const { env, requests, refuse } = await start(world);
    const secrets = { SLACK_BOT_TOKEN: 'xoxb-test-token', SLACK_TEAM_ID: 'T1' };
    const client = await open('slack', { env: { ...env, ...secrets }, preload });
    const message = { channel_id: 'C1', text: 'hi' };
    const thread = { channel_id: 'C1', thread_ts: '1700000000.000001' };
    const reads: readonly Repeated[] = [
      { tool: 'slack_list_channels', args: {}, effect: 'read' },
      { tool: 'slack_get_channel_history', args: { channel_id: 'C1' }, effect: 'read' },
      { tool: 'slack_get_thread_replies', args: thread, effect: 'read' },
      { tool: 'slack_get_users', args: {}, effect: 'read' },
      { tool: 'slack_get_user_profile', args: { user_id: 'U1' }, effect: 'read' },
    ];
    const reaction = { channel_id: 'C1', timestamp: '1700000000.000001', reaction: 'eyes' };
    await expectEffects(
      [
        ...reads,
        { tool: 'slack_post_message', args: message, effect: 'once' },
        { tool: 'slack_reply_to_thread', args: { ...thread, text: 're' }, effect: 'once' },
        { tool: 'slack_add_reaction', args: reaction, effect: 'idempotent' },
      ],
      world.state,
    );
    const methods = requests.map((request) => request.split(' ')[0]);
    expect(methods.slice(0, 2 * reads.length)).toEqual(reads.flatMap(() => ['GET', 'GET']));
    expect(methods.filter((method) => method === 'POST')).toHaveLength(6);

    refuse({ status: 429, json: { ok: false, error: 'ratelimited' }, headers: RETRY_AFTER });
    const before = requests.length;
    const limited = await client.call('slack_get_users');
    expect([limited.result?.['isError'], textOf(limited)]).toEqual([
      undefined,
      '{"ok":false,"error":"ratelimited"}',
    ]);
    // Without a time to wait it is surfaced at once.
    expect(requests.length - before).toBe(1);
    expect(faultOf('slack', limited, 'slack_get_users')?.kind).toBe('rate_limited');
    await api?.close();
    const unreachable = await client.call('slack_get_user_profile', { user_id: 'U1' });
    expect(faultOf('slack', unreachable, 'slack_get_user_profile')?.kind).toBe('server');
  });

  it('the server of Notion holds for repeated calls', async () => {
    const world = notionWorld();
    const { url, requests, refuse } = await start(world, 'notion');
    const client = await open('notion', { env: { BASE_URL: url, NOTION_TOKEN: 'ntn_test_token' } });
    const page = { page_id: ID };
    const parent = { page_id: ID };
    const rich = [{ text: { content: 'x' } }];
    const differs = (first: Message, second: Message): boolean => textOf(first) !== textOf(second);
    const reads: readonly Repeated[] = [
      { tool: 'API-get-user', args: { user_id: ID }, effect: 'read' },
      { tool: 'API-get-users', args: {}, effect: 'read' },
      { tool: 'API-get-self', args: {}, effect: 'read' },
      { tool: 'API-post-search', args: { query: 'x' }, effect: 'read' },
      { tool: 'API-get-block-children', args: { block_id: ID }, effect: 'read' },
      { tool: 'API-retrieve-a-block', args: { block_id: ID }, effect: 'read' },
      { tool: 'API-retrieve-a-page', args: page, effect: 'read' },
      { tool: 'API-retrieve-a-page-property', args: { ...page, property_id: 'n' }, effect: 'read' },
      { tool: 'API-retrieve-a-comment', args: { block_id: ID }, effect: 'read' },
      { tool: 'API-query-data-source', args: { data_source_id: ID }, effect: 'read' },
      { tool: 'API-retrieve-a-data-source', args: { data_source_id: ID }, effect: 'read' },
      { tool: 'API-list-data-source-templates', args: { data_source_id: ID }, effect: 'read' },
      { tool: 'API-retrieve-a-database', args: { database_id: ID }, effect: 'read' },
      { tool: 'API-retrieve-page-markdown', args: page, effect: 'read' },
    ];
    const cases: readonly Repeated[] = [
      ...reads,
      { tool: 'API-patch-page', args: { ...page, in_trash: true }, effect: 'idempotent' },
      { tool: 'API-update-a-block', args: { block_id: ID, archived: false }, effect: 'idempotent' },
      { tool: 'API-delete-a-block', args: { block_id: ID }, effect: 'idempotent' },
      {
        tool: 'API-move-page',
        args: { ...page, parent: { type: 'page_id', ...parent } },
        effect: 'idempotent',
      },
      {
        tool: 'API-update-page-markdown',
        args: { ...page, type: 'replace_content', replace_content: { new_str: 'new' } },
        effect: 'idempotent',
      },
      {
        tool: 'API-update-page-markdown',
        args: { ...page, type: 'insert_content', insert_content: { content: 'more' } },
        effect: 'once',
      },
      {
        tool: 'API-update-a-data-source',
        args: { data_source_id: ID, properties: { Old: { name: 'New' } } },
        effect: 'once',
        again: differs,
      },
      { tool: 'API-patch-block-children', args: { block_id: ID, children: [{}] }, effect: 'once' },
      { tool: 'API-post-page', args: { parent, properties: {} }, effect: 'once' },
      { tool: 'API-create-a-comment', args: { parent, rich_text: rich }, effect: 'once' },
      { tool: 'API-create-a-data-source', args: { parent, properties: {} }, effect: 'once' },
    ];
    await expectEffects(cases, world.state);
    expect(new Set(cases.map(({ tool }) => tool)).size).toBe(24);
    // POST is a read for two of them, as the API defines it.
    const sent = new Set(
      requests.slice(0, 2 * reads.length).map((one) => one.replace(/^GET .*/, 'GET')),
    );
    expect([...sent]).toEqual([
      'GET',
      'POST notion/v1/search',
      `POST notion/v1/data_sources/${ID}/query`,
    ]);

    const errorOf = (status: number, code: string) => ({
      status,
      json: { object: 'error', status, code, message: 'm', request_id: 'r' },
      headers: RETRY_AFTER,
    });
    const errors = [
      [429, 'rate_limited', 'rate_limited'],
      [500, 'internal_server_error', 'server'],
      [502, 'bad_gateway', 'server'],
      [503, 'service_unavailable', 'server'],
      [504, 'gateway_timeout', 'server'],
      [400, 'validation_error', undefined],
    ] as const;
    for (const [status, code, kind] of errors) {
      refuse(errorOf(status, code));
      const before = requests.length;
      const answer = await client.call('API-create-a-comment', { parent, rich_text: [{ code }] });
      expect(requests.length - before).toBe(1);
      expect(answer.result?.['isError']).toBeUndefined();
      expect([code, faultOf('notion', answer, 'API-create-a-comment')?.kind]).toEqual([code, kind]);
    }
    refuse(errorOf(503, 'service_unavailable'));
    const before = requests.length;
    await client.call('API-post-search', { query: 'y' });
    expect(requests.length - before).toBe(3);
  });

  it('server-brave-search holds for repeated calls', async () => {
    const world = braveWorld();
    const { env, requests, refuse } = await start(world);
    const given = { ...env, BRAVE_API_KEY: 'test-key', TEST_CLOCK: 'stopped' };
    const client = await open('brave', { env: given, preload });
    await expectEffects(
      [
        { tool: 'brave_web_search', args: { query: 'x' }, effect: 'read' },
        { tool: 'brave_local_search', args: { query: 'x' }, effect: 'read' },
      ],
      world.state,
    );
    expect(requests.filter((request) => !request.startsWith('GET '))).toEqual([]);
    expect(requests).toHaveLength(2 + 2 * 2);

    // Time does not pass: the second request of the search meets the limit of the server itself.
    refuse({ json: { web: { results: [] } } });
    const local = await client.call('brave_local_search', { query: 'y' });
    expect(textOf(local)).toBe('Error: Rate limit exceeded');
    expect(requests).toHaveLength(6 + 1);
    expect(faultOf('brave', local, 'brave_web_search')?.kind).toBe('rate_limited');
  });

  it('the archived server of GitHub holds for repeated calls', async () => {
    const world = githubWorld();
    const { env, requests, refuse, killAfter } = await start(world);
    const token = { GITHUB_PERSONAL_ACCESS_TOKEN: 'ghp_test_token' };
    const client = await open('github', { env: { ...env, ...token }, preload });
    const repo = { owner: 'o', repo: 'r' };
    const pull = { ...repo, pull_number: 1 };
    const issue = { ...repo, issue_number: 1 };
    const file = { ...repo, path: 'a.txt', content: 'a', message: 'm', branch: 'main' };
    const files = [{ path: 'b.txt', content: 'b' }];
    const writes: readonly Repeated[] = [
      { tool: 'update_issue', args: { ...issue, title: 'new' }, effect: 'idempotent' },
      { tool: 'create_or_update_file', args: file, effect: 'once' },
      { tool: 'create_repository', args: { name: 'new' }, effect: 'once' },
      {
        tool: 'push_files',
        args: { ...repo, branch: 'main', files, message: 'm' },
        effect: 'once',
      },
      { tool: 'create_issue', args: { ...repo, title: 'second' }, effect: 'once' },
      {
        tool: 'create_pull_request',
        args: { ...repo, title: 't', head: 'side', base: 'main' },
        effect: 'once',
      },
      { tool: 'fork_repository', args: repo, effect: 'once' },
      { tool: 'add_issue_comment', args: { ...issue, body: 'hi' }, effect: 'once' },
      {
        tool: 'create_pull_request_review',
        args: { ...pull, body: 'ok', event: 'COMMENT' },
        effect: 'once',
      },
      { tool: 'update_pull_request_branch', args: pull, effect: 'once' },
      {
        tool: 'create_branch',
        args: { ...repo, branch: 'new', from_branch: 'main' },
        effect: 'once',
      },
      { tool: 'merge_pull_request', args: pull, effect: 'once' },
    ];
    const reads: readonly Repeated[] = [
      { tool: 'search_repositories', args: { query: 'r' }, effect: 'read' },
      { tool: 'get_file_contents', args: { ...repo, path: 'a.txt' }, effect: 'read' },
      ...['list_commits', 'list_issues', 'list_pull_requests'].map((tool): Repeated => ({
        tool,
        args: repo,
        effect: 'read',
      })),
      ...['search_code', 'search_issues', 'search_users'].map((tool): Repeated => ({
        tool,
        args: { q: 'x' },
        effect: 'read',
      })),
      { tool: 'get_issue', args: issue, effect: 'read' },
      ...['', '_files', '_status', '_comments', '_reviews'].map((part): Repeated => ({
        tool: `get_pull_request${part}`,
        args: pull,
        effect: 'read',
      })),
    ];
    let count = 0;
    const counted = reads.map((read, index): Repeated =>
      index === 0 ? { ...read, before: () => (count = requests.length) } : read,
    );
    await expectEffects([...writes, ...counted], world.state);
    expect(requests.slice(count).filter((request) => !request.startsWith('GET '))).toEqual([]);

    const next = { ...repo, title: 'u', head: 'main', base: 'side' };
    await client.call('create_pull_request', next);
    const route = 'PUT api.github.com/repos/o/r/pulls/2/merge';
    killAfter('PUT api.github.com/repos/:owner/:repo/pulls/:number/merge');
    const merged = await client.call('merge_pull_request', { ...pull, pull_number: 2 });
    expect(textOf(merged)).toContain('Executed. The answer was lost; get_pull_request returned');
    expect(requests.filter((request) => request === route)).toHaveLength(1);

    const comment = async (status: number, message: string): Promise<Message> => {
      refuse({ status, json: { message }, headers: RETRY_AFTER });
      return client.call('add_issue_comment', { ...issue, body: message });
    };
    const tool = 'add_issue_comment';
    const limited = faultOf('github', await comment(429, 'API rate limit exceeded'), tool);
    expect(limited?.kind).toBe('rate_limited');
    expect(limited?.retryAfterMs).toBeGreaterThan(30_000);
    for (const message of [
      'API rate limit exceeded for user ID 1.',
      'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.',
    ]) {
      expect(faultOf('github', await comment(403, message), tool)?.kind).toBe('rate_limited');
    }
    expect(faultOf('github', await comment(403, 'Resource not accessible'), tool)).toBeUndefined();
  });
});
