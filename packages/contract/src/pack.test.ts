import { expect, it } from 'vitest';
import * as z from 'zod';
import type { Pack, PackDeps, TextMessage, TextModel, TextModelError } from './pack.js';
import { runTool } from './run/run-tool.js';
import { implementTool, specifyTool } from './tool/define.js';
import { answer, faulted } from './tool/result.js';

const completion = (text: string) =>
  ({ text, provider: 'echo', model: 'echo', finish: 'stop', toolCalls: [], attempts: 1 }) as const;

const rejected: TextModelError = Object.assign(new Error('no message'), {
  fault: { kind: 'rejected', sent: 'answered', status: 400 },
  provider: 'echo',
  code: 'invalid_request',
  phase: 'headers',
  retriable: false,
  attempts: 1,
  partialText: '',
} as const);

const textOf = (message?: TextMessage): string =>
  typeof message?.content === 'string' ? message.content : '';

const model: TextModel = {
  name: 'echo',
  complete: ({ messages }) =>
    messages.length === 0
      ? Promise.reject(rejected)
      : Promise.resolve(completion(textOf(messages[0]))),
  stream: async function* ({ messages }) {
    await Promise.resolve();
    const text = messages.map(textOf).join('');
    yield { type: 'content', text };
    yield { type: 'done', completion: completion(text) };
  },
  health: () => Promise.resolve([]),
};

const draft = specifyTool({
  name: 'draft_text',
  title: 'Draft a text',
  description: 'Asks the model for a text.',
  category: 'write',
  effect: 'read',
  profiles: ['readonly', 'api', 'workflow'],
  requires: ['llm'],
  input: z.object({ about: z.string().optional() }),
  output: z.object({ text: z.string() }),
  errors: ['llm_not_configured', 'upstream_rejected'],
});

const pack = {
  name: 'drafts',
  configSchema: z.object({ prefix: z.string().default('> ') }),
  describe: () => [draft],
  create: ({ prefix }: { prefix: string }, deps: PackDeps) =>
    Promise.resolve({
      tools: [
        implementTool(draft, {
          handler: async ({ about }, context) => {
            const messages = about === undefined ? [] : [{ role: 'user', content: about } as const];
            try {
              const drafted = await (deps.model ?? model).complete({ messages }, context);
              return answer({ text: prefix + drafted.text });
            } catch (cause) {
              return faulted((cause as TextModelError).fault);
            }
          },
        }),
      ],
      health: () => Promise.resolve({ ok: true, detail: 'echoes' }),
      close: () => Promise.resolve(),
    }),
} satisfies Pack<z.ZodObject<{ prefix: z.ZodDefault<z.ZodString> }>>;

it('packs with different configurations fit in one list', async () => {
  const packs: readonly Pack[] = [pack];
  const deps = { now: () => 0, random: () => 0, log: () => {}, observe: () => {}, model };
  for (const one of packs) {
    expect(one.describe().map(({ name }) => name)).toEqual(['draft_text']);
    const instance = await one.create(one.configSchema.parse({}), deps);
    const [tool] = instance.tools;
    expect(tool && (await runTool(tool, { about: 'hi' })).envelope.data).toEqual({ text: '> hi' });
    expect(tool && (await runTool(tool, {})).envelope.error?.code).toBe('upstream_rejected');
    await instance.close();
  }
});

it('a text model streams until the last event', async () => {
  const events: string[] = [];
  for await (const event of model.stream({ messages: [{ role: 'user', content: 'a' }] })) {
    events.push(event.type);
  }
  expect(events).toEqual(['content', 'done']);
});
