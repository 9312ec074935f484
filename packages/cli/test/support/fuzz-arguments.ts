import { parseInput, type ToolSpec } from '@toolkeel/contract';
import fc from 'fast-check';
import type { Connected, Envelope } from './client.js';

export type Args = Record<string, unknown>;

/** Values that are near to what a schema of these tools wants, and far from it. */
const pool: readonly unknown[] = [
  null,
  true,
  '',
  ' ',
  '[',
  '[1,2,3,4]',
  '{"type":"Point","coordinates":[0,0]}',
  '2024-06',
  '2024-06-31',
  '2024-06-01/..',
  '../..',
  'latest',
  'sentinel-2-l2a',
  '-properties.datetime',
  'eo:cloud_cover < 10',
  'json',
  '\u{1F30D}',
  '\uD83C',
  '\u0000',
  '__proto__',
  'a'.repeat(9000),
  '5',
  -1,
  0,
  1,
  1.5,
  501,
  1e9,
  1e300,
  [],
  [0, 0, 0],
  [10, 45, 11, 50],
  [10, 50, 11, 45],
  [170, -10, -170, 10],
  ['sentinel-2-l2a'],
  ['sentinel-2-l2a', 5],
  [[[]]],
  {},
  { type: 'Polygon', coordinates: [] },
  { type: 'Point', coordinates: [10, 50] },
  { include: 5 },
  { include: ['properties.datetime'] },
  { 'eo:cloud_cover': { lt: 10 } },
  { op: '<', args: [{ property: 'eo:cloud_cover' }, 10] },
  { constructor: { prototype: 1 } },
];

/** Nothing that leads out of this machine: what is public is asked for. */
const addresses = [
  'http://127.0.0.1/',
  'http://[::1]:1/',
  'http://10.0.0.1/',
  'file:///etc/passwd',
];

/** Half a character is written as an escape, and refused whatever the schema says. */
const isSound = (args: Args): boolean => !/\\ud[89a-f]/.test(JSON.stringify(args));

/** Made-up arguments of a tool, parted by what its own schema says to them. */
export function fuzzArguments(
  { input, inputSchema }: ToolSpec,
  count: number,
  seed: number,
): { readonly refused: Args[]; readonly accepted: Args[] } {
  const names = Object.keys(input.shape);
  const value = fc.oneof(
    { arbitrary: fc.constantFrom(...pool), weight: 3 },
    { arbitrary: fc.jsonValue({ maxDepth: 3 }), weight: 1 },
  );
  const member = fc.constantFrom(...names, ...names, 'unknown', '__proto__').chain((name) => {
    const values = name === 'catalog_url' ? fc.constantFrom<unknown>(...addresses, 5) : value;
    return fc.tuple(fc.constant(name), values);
  });
  // What must be there is there most of the time, so that some are accepted.
  const required = (inputSchema['required'] ?? []) as readonly string[];
  const base = fc.tuple(
    ...required.map((name) =>
      fc.tuple(fc.constant(name), fc.oneof(fc.constant('sentinel-2-l2a'), value)),
    ),
  );
  const members = fc.tuple(base, fc.array(member, { maxLength: 4 }));
  // Not Object.fromEntries: `__proto__` shall be a member like any other.
  const written = (entries: readonly (readonly [string, unknown])[]): string =>
    `{${entries.map(([name, given]) => `${JSON.stringify(name)}:${JSON.stringify(given)}`).join()}}`;
  const made = fc
    .sample(members, { numRuns: count, seed })
    .map((parts) => JSON.parse(written(parts.flat())) as Args);
  const isRefused = (args: Args): boolean =>
    !isSound(args) || !parseInput({ input, inputSchema }, args).parsed.success;
  return {
    refused: made.filter(isRefused),
    accepted: made.filter((args) => !isRefused(args)),
  };
}

/** Puts all of them to a server, some at once, and gives the answers in their order. */
export async function answersTo(
  client: Connected,
  tool: string,
  all: readonly Args[],
  lanes = 8,
): Promise<Envelope[]> {
  const answers: Envelope[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < all.length) {
      const index = next++;
      answers[index] = await client.call(tool, all[index]);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return answers;
}
