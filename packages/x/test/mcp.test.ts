import { createHost } from '@toolkeel/host';
import { describe, expect, it } from 'vitest';
import { createXPack } from '../src/index.js';
import { useSandbox } from './support/sandbox.js';
import { useWorld } from './support/world.js';

const sandboxWorld = useSandbox();
const { onClose } = useWorld();

interface Answered {
  readonly result: {
    readonly isError?: boolean;
    readonly tools: readonly { readonly name: string }[];
    readonly structuredContent: Readonly<Record<string, unknown>>;
    readonly content: readonly [{ readonly text: string }];
  };
}

/** A host that serves the pack, and a client that speaks plain JSON-RPC to it. */
async function served(profile: 'readonly' | 'api') {
  const { sandbox } = await sandboxWorld({ tier: 'enterprise' });
  const pack = createXPack({ env: { USER: sandbox.credentials.accessToken } });
  const config = { baseUrl: sandbox.url, accessToken: { env: 'USER' }, tier: 'enterprise' };
  const host = createHost({ packs: [{ pack, config }], profile: { name: profile } });
  onClose(() => host.close());
  const http = await host.listen({ port: 0 });
  onClose(() => http.close());
  let id = 0;
  const ask = async (method: string, params: object): Promise<Answered['result']> => {
    const answer = await fetch(`${http.url}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params }),
    });
    const text = await answer.text();
    const data = /^data: (.*)$/m.exec(text)?.[1] ?? text;
    return (JSON.parse(data) as Answered).result;
  };
  const call = (name: string, args: object) => ask('tools/call', { name, arguments: args });
  return { sandbox, ask, call };
}

describe('through MCP', () => {
  it('a profile has its tools, and no others', async () => {
    const reading = await served('readonly');
    const acting = await served('api');
    const names = async ({ ask }: typeof reading) =>
      (await ask('tools/list', {})).tools.map(({ name }) => name);
    expect(await names(reading)).toHaveLength(24);
    expect(await names(reading)).not.toContain('x_post_tweet');
    expect(await names(acting)).toHaveLength(38);
    expect(await reading.call('x_post_tweet', { text: 'no' })).toBeUndefined();
    expect(reading.sandbox.commits()).toEqual([]);
  });

  it('every answer is one envelope, of successes and of failures', async () => {
    const { sandbox, call } = await served('api');
    const posted = await call('x_post_tweet', { text: 'through and through' });
    expect(posted.structuredContent).toMatchObject({ success: true });
    expect(JSON.parse(posted.content[0].text)).toEqual(posted.structuredContent);
    expect(sandbox.commits()).toHaveLength(1);
    sandbox.setFaults([{ kind: 'x-403-suspended', routes: ['create-post'] }]);
    const refused = await call('x_post_tweet', { text: 'once more' });
    expect(refused.isError).toBe(true);
    expect(refused.structuredContent).toMatchObject({
      success: false,
      error: { code: 'x_account_restricted', outcome: 'not_executed' },
    });
    sandbox.setFaults([{ kind: 'http-503', routes: ['me'], times: 1 }]);
    expect((await call('x_get_me', {})).structuredContent).toMatchObject({
      success: true,
      meta: { retry_count: 1 },
    });
  });
});
