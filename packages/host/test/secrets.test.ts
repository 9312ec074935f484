import { expect, it } from 'vitest';
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

it('never says a secret, wherever it was planted', async () => {
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
  const tried = [
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
  for (const one of tried) see(await one().catch((error: unknown) => error));
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
    expect(seen.includes(form), `answers hold ${form}`).toBe(false);
    expect(stderr.includes(form), `the log holds ${form}`).toBe(false);
  }
  // The test would prove nothing if nothing had been said.
  expect(seen.match(/\[redacted\]/g)?.length).toBeGreaterThan(10);
  expect(stderr).toContain('GET https://user:[redacted]@example.com');
  expect(seen).toContain('circuit_state');
});

it('takes out what a pack came by later, as it takes out what the settings name', async () => {
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
    watchSecret: secrets.watchPassing,
  });
  const http = await host.listen({ port: 0 });
  const client = await overHttp('2.x modern', http.url);
  const said = JSON.stringify(await client.callTool({ name: 'leak_data', arguments: {} }));
  await client.close();
  await http.close();
  await host.close();
  expect(said).toContain('[redacted]');
  for (const form of forms) expect(said).not.toContain(form);
});
