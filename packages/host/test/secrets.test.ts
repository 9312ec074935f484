import { defineTool, type Pack } from '@toolkeel/contract';
import { echoes } from '@toolkeel/pack-kit/testing';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { createHost, createLog, Secrets } from '@toolkeel/host';
import { leakyPack } from '../src/fixtures/leaky.fixture.js';
import { overHttp } from './clients.js';

// Quotes, backslashes and spaces are what an encoding changes.
const secret = 'pl@nted "secret"\\ value/42';
const forms = [
  secret,
  JSON.stringify(secret).slice(1, -1),
  encodeURIComponent(secret),
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  'pl@nted',
];

it('redacts a secret in every output', async () => {
  const secrets = new Secrets();
  const token = secrets.add('http.token', secret);
  let stderr = '';
  const { log, flush } = createLog({
    level: 'debug',
    scrub: secrets.scrub,
    write: (line) => (stderr += line),
  });
  const host = createHost({
    packs: [{ pack: leakyPack(secret), config: { token: secret, wrapped: token } }],
    log,
    scrub: secrets.scrub,
  });
  host.raw({
    tools: [
      {
        definition: {
          name: 'leak_raw',
          description: 'Raw.',
          inputSchema: { type: 'object' },
          annotations: { readOnlyHint: true },
        },
        call: () => ({ content: [{ type: 'text', text: `raw ${secret}` }] }),
      },
    ],
  });
  const http = await host.listen({ port: 0 });
  const client = await overHttp('2.x modern', http.url);

  let seen = '';
  const see = (value: unknown): void => {
    seen += `${value instanceof Error ? `${value.message} ${JSON.stringify(value)}` : JSON.stringify(value)}\n`;
  };
  const { tools } = await client.listTools();
  for (const { name } of tools) {
    see(
      await client.callTool({ name, arguments: { text: secret } }).catch((error: unknown) => error),
    );
  }
  const requests = [
    () => client.callTool({ name: secret }),
    () => client.callTool({ name: 'leak_args', arguments: { [secret]: 1 } }),
    () => client.client.listResources(),
    () => client.client.readResource({ uri: 'leak://text' }),
    () => client.client.readResource({ uri: 'leak://thrown' }),
    () => client.client.readResource({ uri: `leak://${encodeURIComponent(secret)}` }),
    () => client.client.listPrompts(),
    () => client.client.getPrompt({ name: 'leak' }),
    () => client.client.getPrompt({ name: 'leak_thrown' }),
    () => client.client.getPrompt({ name: secret }),
  ];
  for (const request of requests) see(await request().catch((error: unknown) => error));
  for (const path of ['/healthz', '/metrics', `/${encodeURIComponent(secret)}`, '/mcp']) {
    see(await (await fetch(new URL(path, http.url))).text());
  }
  see(await host.health());
  await client.close();
  await http.close();
  await host.close();
  await flush();

  expect(tools).toHaveLength(7);
  for (const form of forms) {
    expect(seen.includes(form), `results contain ${form}`).toBe(false);
    expect(stderr.includes(form), `the log contains ${form}`).toBe(false);
  }
  // Without these, the assertions above would be vacuous.
  expect(seen.match(/\[redacted\]/g)?.length).toBeGreaterThan(10);
  expect(stderr).toContain('GET https://user:[redacted]@example.com');
  expect(seen).toContain('circuit_state');
});

it('redacts secrets that a pack obtains at run time', async () => {
  const secrets = new Secrets();
  const leaky = leakyPack(secret);
  const host = createHost({
    packs: [
      {
        pack: {
          ...leaky,
          create: (config, deps) => {
            deps.secret?.(secret);
            return leaky.create(config, deps);
          },
        },
      },
    ],
    scrub: secrets.scrub,
    watchSecret: secrets.watchRotating,
  });
  const http = await host.listen({ port: 0 });
  const client = await overHttp('2.x modern', http.url);
  const result = JSON.stringify(await client.callTool({ name: 'leak_data', arguments: {} }));
  await client.close();
  await http.close();
  await host.close();
  expect(result).toContain('[redacted]');
  for (const form of forms) expect(result).not.toContain(form);
});

it('redacts every encoding in which an upstream can repeat a secret, in results and in the log', async () => {
  const planted = 'tok-ABC/def+0123_456.789=';
  const secrets = new Secrets();
  secrets.watch(planted);
  const lines: string[] = [];
  const { log, flush } = createLog({ scrub: secrets.scrub, write: (text) => lines.push(text) });
  const tools = echoes.map(({ write }, index) =>
    defineTool({
      name: `echo_${index}`,
      title: 'Echo',
      description: 'Repeats the secret.',
      category: 'read',
      effect: 'read',
      profiles: ['readonly', 'api', 'workflow'],
      input: z.object({}),
      output: z.unknown(),
      errors: [],
      handler: () => ({ echo: write(planted), kept: 'yes' }),
    }),
  );
  const pack: Pack = {
    name: 'echo',
    configSchema: z.looseObject({}),
    describe: () => tools,
    create: (_, deps) => {
      for (const { name, write } of echoes)
        deps.log('warn', 'echo', { name, echo: write(planted) });
      return Promise.resolve({
        tools,
        health: () => Promise.resolve({ ok: true, detail: 'answers' }),
        close: () => Promise.resolve(),
      });
    },
  };
  const host = createHost({ packs: [{ pack }], log, scrub: secrets.scrub });
  const http = await host.listen({ port: 0 });
  const client = await overHttp('2.x modern', http.url);
  const results: unknown[] = [];
  for (const { name } of tools) results.push(await client.callTool({ name, arguments: {} }));
  await client.close();
  await http.close();
  await host.close();
  await flush();

  const logged = lines.join('').trim().split('\n');
  for (const [index, { name, write }] of echoes.entries()) {
    const line =
      logged.find((entry) => (JSON.parse(entry) as { name?: string }).name === name) ?? '';
    const inJson = JSON.stringify(write(planted)).slice(1, -1);
    for (const output of [JSON.stringify(results[index]), line]) {
      expect({ name, output }).toEqual({ name, output: expect.stringContaining('[redacted]') });
      expect(output).not.toContain(inJson);
      expect(output).not.toContain('tok-ABC');
    }
    expect(results[index]).toMatchObject({ structuredContent: { data: { kept: 'yes' } } });
  }
});
