import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { acceptControls } from '@toolkeel/contract';
import { createHost, decideBy } from '@toolkeel/host';
import { createJournal, ephemeralEncryption, memoryStore } from '@toolkeel/journal';
import { compilePolicy } from '@toolkeel/policy';
import { startGithubSandbox } from '@toolkeel/sandbox';
import { describe, expect, test } from 'vitest';
import { createGitHubPack, github as pack } from '../src/index.js';
import { closeAfterEach, onClose, type Config } from './support/rig.js';

closeAfterEach();

/** The pack behind a host on loopback, with a policy and a journal, and an MCP client. */
async function served(profile: 'readonly' | 'api', config: Config = {}) {
  const github = await startGithubSandbox();
  onClose(() => github.close());
  const compiled = compilePolicy({}, { profile, tools: pack.describe().map(acceptControls) });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.issues));
  const { policy } = compiled;
  const settings = { baseUrl: github.url, token: { env: 'TOKEN' }, ...config };
  const host = createHost({
    packs: [{ pack: createGitHubPack({ env: { TOKEN: github.token } }), config: settings }],
    profile,
    policy,
    journal: (deps) =>
      createJournal({
        store: memoryStore(),
        encryption: ephemeralEncryption(),
        decide: decideBy(policy),
        ...deps,
      }),
  });
  const http = await host.listen({ port: 0 });
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${http.url}/mcp`)));
  onClose(async () => {
    await client.close();
    await http.close();
    await host.close(0);
  });
  const { owner, repo } = github.landmarks;
  return { github, client, repo: `${owner}/${repo}` };
}

const namesOf = async (client: Client): Promise<readonly string[]> =>
  (await client.listTools()).tools
    .map(({ name }) => name)
    .filter((name) => name.startsWith('github_'));

describe('through MCP', () => {
  test('file text is in the first text block, and the same in structuredContent', async () => {
    const { client, repo } = await served('readonly');
    const result = await client.callTool({
      name: 'github_read_file',
      arguments: { repo, path: 'README.md' },
    });
    const [first] = result.content as { type: string; text: string }[];
    const envelope = JSON.parse(first?.text ?? '{}') as { data: { text: string } };
    expect(envelope.data.text).toBe('# Harbor\n\nKeeps ships in berths.\n');
    expect(result.structuredContent).toEqual(envelope);
  });

  test('sets and profiles choose the tools: reads in all profiles, mutations in api', async () => {
    const names = (isMeant: (effect: string) => boolean, count: number) => {
      const found = pack.describe().filter(({ effect }) => isMeant(effect));
      expect(found).toHaveLength(count);
      return found.map(({ name }) => name).toSorted();
    };
    const all: Config = { toolsets: ['core', 'write', 'actions'] };
    const reading = await served('readonly', all);
    expect((await namesOf(reading.client)).toSorted()).toEqual(
      names((effect) => effect === 'read', 19),
    );
    const acting = await served('api', all);
    expect((await namesOf(acting.client)).toSorted()).toEqual(names(() => true, 35));
    const byDefault = await namesOf((await served('api')).client);
    expect(byDefault).toHaveLength(30);
    expect(byDefault).not.toContain('github_run_workflow');
  });

  test('a repeated call replays its answer and creates nothing', async () => {
    const { client, github, repo } = await served('api');
    const call = { name: 'github_create_issue', arguments: { repo, title: 'Once' } };
    const first = await client.callTool(call);
    const second = await client.callTool(call);
    const data = ({ structuredContent }: typeof first) =>
      (structuredContent as { data: unknown }).data;
    expect(data(second)).toEqual(data(first));
    expect(second.structuredContent).toMatchObject({ meta: { idempotency: { replayed: true } } });
    expect(github.commits({ kind: 'issue.created' })).toHaveLength(1);
  });
});
