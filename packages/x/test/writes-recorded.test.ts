import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  acceptControls,
  defineTool,
  profilesFrom,
  runTool,
  type Tool,
  type ToolContext,
} from '@toolkeel/contract';
import { createJournal, memoryStore, openStore, ephemeralEncryption } from '@toolkeel/journal';
import { watchWrites, type WriteWatch } from '@toolkeel/journal/testing';
import { startXSandbox } from '@toolkeel/sandbox';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { x as pack } from '../src/index.js';
import { png } from '../src/media/files.fixture.js';
import { postsFor, setsFor } from './support/acts.js';
import { loginTo, useGoverned } from './support/governed.js';
import { PATIENCE_MS } from './support/patience.js';
import { useWorld } from './support/world.js';

const { newFolder, start, onClose } = useGoverned();
const { serve } = useWorld();

async function watched(...given: Parameters<typeof watchWrites>): Promise<WriteWatch> {
  const pollUntilFound = await watchWrites(...given);
  onClose(() => pollUntilFound.close());
  return pollUntilFound;
}

describe('a write to X', () => {
  it(
    'of any tool arrives after its operation was recorded as sending',
    async () => {
      const x = await startXSandbox({ tier: 'enterprise', duplicateWindowMs: 0 });
      onClose(() => x.close());
      const folder = await newFolder();
      await writeFile(join(folder, 'picture.png'), png(200));
      const acts = [...(await postsFor(x, 'one')), ...(await setsFor(x, 'picture.png'))];
      const store = await openStore('sqlite:journal.db', { dataDir: folder });
      onClose(() => store.close());
      const pollUntilFound = await watched(x.url, store);
      const login = loginTo(x, { mediaDirectories: [folder], baseUrl: pollUntilFound.url });
      const server = await start({ folder, ...login });
      const tools = new Set<string>();
      for (const { tool, args } of acts) {
        const writes = await pollUntilFound.during(tool, async () =>
          expect(await server.call(tool, args)).toMatchObject({ success: true }),
        );
        expect({ tool, writes: writes.length > 0 }).toEqual({ tool, writes: true });
        tools.add(tool);
      }
      const mutating = pack.describe().filter(({ mutation }) => mutation);
      expect([...tools].toSorted()).toEqual(mutating.map(({ name }) => name).toSorted());
    },
    PATIENCE_MS,
  );
});

describe('the watch over writes', () => {
  const post = (url: string): Promise<unknown> => fetch(`${url}/posts`, { method: 'POST' });
  type Operation = NonNullable<ToolContext['operation']>;

  async function runWith(
    send: 'automatic' | 'explicit',
    handler: (url: string, operation: Operation) => Promise<unknown>,
  ): Promise<readonly string[]> {
    const upstream = await serve(() => ({ json: {} }));
    const store = memoryStore();
    const pollUntilFound = await watched(upstream.origin, store);
    const journal = createJournal({ store, encryption: ephemeralEncryption() });
    onClose(() => journal.close());
    const tool: Tool = acceptControls(
      defineTool({
        name: 'post',
        title: 'Post',
        description: 'Posts something.',
        category: 'write',
        effect: 'once',
        send,
        profiles: profilesFrom('api'),
        errors: [],
        input: z.object({}),
        output: z.strictObject({}),
        handler: async (_, { operation }) => {
          await fetch(`${pollUntilFound.url}/posts`);
          await handler(pollUntilFound.url, operation!);
          return {};
        },
      }),
    );
    return pollUntilFound.during('post', () => runTool(tool, {}, { around: journal.around }));
  }

  it.each([
    ['before send', (url, operation) => post(url).then(() => operation.send(() => post(url)))],
    ['without send', (url) => post(url)],
  ] as const satisfies readonly (readonly [string, Parameters<typeof runWith>[1]])[])(
    'fails a tool that writes %s',
    async (_, handler) => {
      await expect(runWith('explicit', handler)).rejects.toThrow(
        'post sent POST /posts before its operation was recorded as sending',
      );
    },
  );

  it.each([
    ['inside send', 'explicit', (url, operation) => operation.send(() => post(url))],
    ['in automatic mode', 'automatic', (url) => post(url)],
  ] as const satisfies readonly (readonly [string, ...Parameters<typeof runWith>])[])(
    'passes a tool that writes %s, and its reads',
    async (_, send, handler) => {
      expect(await runWith(send, handler)).toEqual(['POST /posts']);
    },
  );
});
