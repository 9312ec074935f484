import { acceptControls, defineTool, type Pack, type Tool } from '@toolkeel/contract';
import {
  createJournal,
  memoryStore,
  ephemeralEncryption,
  type JournalOptions,
} from '@toolkeel/journal';
import { compilePolicy, type Policy, type PolicyConfig } from '@toolkeel/policy';
import { Client } from '@modelcontextprotocol/client';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { createHost, type HostOptions } from '../host.js';
import { decideBy } from './policy.js';

const base = {
  title: 'Test',
  description: 'Tests.',
  category: 'write',
  profiles: ['api', 'workflow'],
  errors: [],
} as const;

/** Tools that record their executions in `done`. */
export const shelf = () => {
  const done: string[] = [];
  const tools: readonly Tool[] = [
    defineTool({
      ...base,
      name: 'put',
      effect: 'once',
      sensitive: ['note'],
      input: z.object({ thing: z.string(), note: z.string().optional() }),
      output: z.object({ n: z.int() }),
      estimateCost: ({ thing }) => ({ amount: thing.length, unit: 'USD' }),
      account: ({ thing }) => (thing === 'hers' ? 'eve' : 'adam'),
      handler: ({ thing }) => ({ n: done.push(thing) }),
    }),
    defineTool({
      ...base,
      name: 'untouch',
      effect: 'idempotent',
      inverse: { of: 'touch' },
      input: z.object({ thing: z.string() }),
      output: z.object({}),
      handler: () => ({}),
    }),
    defineTool({
      ...base,
      name: 'look',
      category: 'read',
      effect: 'read',
      profiles: ['readonly', 'api', 'workflow'],
      input: z.object({ at: z.string().default('all') }),
      output: z.object({ things: z.array(z.string()) }),
      handler: () => ({ things: done }),
    }),
  ];
  return { done, tools };
};

export const packOf = (tools: readonly Tool[], closed: () => void = () => {}): Pack => ({
  name: 'shelf',
  configSchema: z.strictObject({}),
  // Descriptions have neither handlers nor inverses.
  describe: () =>
    tools.map(({ handler: _, inverse: _inverse, account: _account, ...spec }) => spec),
  create: () =>
    Promise.resolve({
      tools,
      health: () => Promise.resolve({ ok: true, detail: '' }),
      close: () => {
        closed();
        return Promise.resolve();
      },
    }),
});

const policyFor = (
  config: PolicyConfig,
  tools: readonly Tool[],
  profile: 'api' | 'workflow' = 'api',
): Policy => {
  const compiled = compilePolicy(config, { profile, tools: tools.map(acceptControls) });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.issues));
  return compiled.policy;
};

/** A host with an in-memory journal, and a connected client. */
export const governed = async (
  { done, tools }: ReturnType<typeof shelf>,
  rules: PolicyConfig = {},
  more: Partial<HostOptions> & { readonly journaling?: Partial<JournalOptions> } = {},
) => {
  const lines: Record<string, unknown>[] = [];
  const { journaling, ...options } = more;
  const store = memoryStore();
  const policy = policyFor(rules, tools);
  const host = createHost({
    packs: [{ pack: packOf(tools) }],
    profile: 'api',
    policy,
    journal: (deps) =>
      createJournal({
        store,
        encryption: ephemeralEncryption(),
        decide: decideBy(policy),
        ...deps,
        ...journaling,
      }),
    log: (level, event, fields) => lines.push({ level, event, ...fields }),
    ...options,
  });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: 't', version: '1' });
  await Promise.all([host.connect(ours), client.connect(theirs)]);
  const call = async (name: string, args: object = {}, meta?: object): Promise<Answer> => {
    const params = { name, arguments: { ...args }, ...(meta && { _meta: { ...meta } }) };
    const { structuredContent } = await client.callTool(params);
    return structuredContent as never;
  };
  const linesOf = (event: string) => lines.filter((line) => line['event'] === event);
  return { host, client, call, lines, linesOf, store, done };
};

interface Answer {
  readonly success: boolean;
  readonly data: unknown;
  readonly error?: { readonly code: string; readonly operation_id?: string };
  readonly meta: Readonly<Record<string, unknown>>;
}
