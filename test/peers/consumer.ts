import {
  answer,
  defineTool,
  page,
  runTool,
  toolError,
  type Pack,
  type Tool,
} from '@toolkeel/contract';
import { createHost, type Host } from '@toolkeel/host';
import { stac } from '@toolkeel/stac';
import * as z from 'zod';

// A user's project. `test/peers.test.ts` type-checks and runs it with several copies of zod.

const shape = z.union([
  z.strictObject({ kind: z.literal('circle'), radius: z.number().positive() }),
  z.strictObject({ kind: z.enum(['square', 'cube']), side: z.number().positive() }),
]);

const area = defineTool({
  name: 'area',
  title: 'Compute areas',
  description: 'Computes the area of each shape.',
  category: 'read',
  effect: 'read',
  profiles: ['readonly', 'api', 'workflow'],
  input: z.object({
    shapes: z.array(shape).max(10).describe('The shapes to measure.'),
    unit: z.enum(['cm', 'm']).default('cm'),
    page_token: z.string().optional(),
  }),
  output: z.object({ areas: z.array(z.strictObject({ area: z.number(), unit: z.string() })) }),
  errors: ['not_found'],
  paging: { token: 'page_token', cursor: z.strictObject({ from: z.int() }), items: 'areas' },
  handler: ({ shapes, unit }, { cursor }) => {
    const from: number = cursor?.from ?? 0;
    const [first] = shapes.slice(from);
    if (!first) return toolError('not_found', 'There is no such shape.');
    const size: number = first.kind === 'circle' ? Math.PI * first.radius ** 2 : first.side ** 2;
    const next = from + 1 < shapes.length ? { from: from + 1 } : undefined;
    return page({ areas: [{ area: size, unit }] }, { next });
  },
});

const traits = {
  name: 'rename',
  title: 'Rename',
  description: 'Renames a shape.',
  category: 'write',
  effect: 'once',
  profiles: ['api', 'workflow'],
  input: z.object({ id: z.string(), name: z.string().min(1).describe('The new name.') }),
  output: z.object({ id: z.string() }),
  errors: [],
} as const;

const rename = defineTool({
  ...traits,
  sensitive: ['name'],
  normalize: ({ id, name }) => ({ id, name: name.trim() }),
  handler: ({ id }) => answer({ id }),
});

/** Type inference works: the compiler rejects these. */
export const mistakes = (): readonly Tool[] => [
  // @ts-expect-error -- the output is a string
  defineTool({ ...traits, handler: ({ id }) => answer({ id: id.length }) }),
  // @ts-expect-error -- there is no such argument
  defineTool({ ...traits, handler: ({ missing }) => answer({ id: missing }) }),
];

const configSchema = z.strictObject({ prefix: z.string().default('>') });

const shapes: Pack<typeof configSchema> = {
  name: 'shapes',
  configSchema,
  describe: () => [area],
  create: ({ prefix }) =>
    Promise.resolve({
      tools: [area],
      health: () => Promise.resolve({ ok: true, detail: prefix.toUpperCase() }),
      close: () => Promise.resolve(),
    }),
};

export const tools: readonly Tool[] = [area, rename];

export const host: Host = createHost({
  tools: [rename],
  packs: [{ pack: shapes }, { pack: stac }],
  profile: 'api',
});

export async function measure(): Promise<number | undefined> {
  const circle = { kind: 'circle', radius: 1 };
  const { envelope } = await runTool(area, { shapes: [circle, circle] });
  return envelope.success ? envelope.data.areas[0]?.area : undefined;
}
