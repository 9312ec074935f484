import { specifyTool } from '@toolkeel/contract';
import * as z from 'zod';
import { catalogCodes } from '../../codes.js';
import { federatedCursorSchema } from '../../search/cursor.js';
import {
  fields,
  idList,
  limit,
  outputFormat,
  pageToken,
  searchArguments,
  sortby,
} from './arguments.js';
import { readTraits } from './traits.js';

/** How one of several catalogues answered. */
export const catalogReport = z.object({
  catalog: z.string(),
  ok: z.boolean(),
  matched: z.int().nullable(),
  warnings: z.array(z.string()),
  error: z.object({ code: z.string(), message: z.string(), retryable: z.boolean() }).optional(),
});

export const searchFederatedSpec = specifyTool({
  ...readTraits,
  name: 'search_federated',
  title: 'Search several catalogues',
  description:
    'Puts one search to several catalogues at once and merges what they find, by `sortby` or else newest first. A catalogue that fails or is slow does not hold up the others: the answer says which one, and why.',
  input: z.object({
    catalogs: idList
      .optional()
      .describe('Names of configured catalogues, or URLs of public ones. Default: all configured.'),
    ...searchArguments,
    sortby,
    fields,
    limit: limit(100).describe('How many at most from each catalogue. Default: 10.'),
    output_format: outputFormat,
    page_token: pageToken,
  }),
  output: z.object({
    items: z.array(z.looseObject({ id: z.string(), catalog: z.string() })),
    catalogs: z.array(catalogReport),
  }),
  errors: [...catalogCodes, 'unsupported_by_upstream'],
  paging: {
    token: 'page_token',
    cursor: federatedCursorSchema,
    items: 'items',
    unbound: ['limit'],
  },
});
