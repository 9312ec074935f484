import * as z from 'zod';
import { defineTool, page, runTool, toolError, toolFailure } from '@toolkeel/contract';

const books = ['Emma', 'Middlemarch', 'Persuasion', 'Villette'];

const listBooks = defineTool({
  name: 'list_books',
  description: 'Lists the books whose title contains a string, a few at a time.',
  effect: 'read', // or: idempotent, once
  input: z.object({
    contains: z.string().default(''),
    limit: z.int().min(1).max(100).default(2),
    page_token: z.string().optional(),
  }),
  output: z.object({ titles: z.array(z.string()) }),
  errors: ['not_found'],
  paging: {
    token: 'page_token', // the argument that accepts a token
    cursor: z.strictObject({ from: z.int() }), // what a signed token contains
    items: 'titles', // the list in `output`
    unbound: ['limit'], // may change between pages
  },
  handler: ({ contains, limit }, { cursor }) => {
    const found = books.filter((title) => title.includes(contains));
    if (found.length === 0) return toolError('not_found', `No title contains "${contains}".`);
    const from = cursor?.from ?? 0;
    const titles = found.slice(from, from + limit);
    const next = from + limit < found.length ? { from: from + limit } : undefined;
    return page({ titles }, { next, after: (kept) => ({ from: from + kept }) });
  },
});

export async function demo() {
  const first = await runTool(listBooks, {});
  // first.text: {"success":true,"data":{"titles":["Emma","Middlemarch"]},"meta":{…}}
  const second = await runTool(listBooks, {
    page_token: first.envelope.meta.pagination?.next_token,
  });
  const failed = await runTool(listBooks, { contains: 'Ulysses' }); // error.code: not_found
  const refused = await runTool(listBooks, { limit: 1000 }); // error.code: validation_error
  const failure = failed.envelope.success ? undefined : toolFailure(failed.envelope, Date.now());
  return { first, second, failed, refused, failure };
}
