import * as z from 'zod';
import { profilesFrom } from './check-definition.js';

/** The definition of a tool that reads a list. */
export const reading = {
  name: 'get_item',
  title: 'Get an item',
  description: 'Reads one item.',
  category: 'read',
  effect: 'read',
  profiles: profilesFrom('readonly'),
  input: z.object({
    id: z.string(),
    page_token: z.string().optional(),
    limit: z.int().default(10),
  }),
  output: z.object({ items: z.array(z.string()) }),
  errors: ['not_found'],
  handler: () => ({ items: [] }),
} as const;
