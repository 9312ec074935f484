import * as z from 'zod';
import { secretSource } from './secret-source.js';

/**
 * What may be done, and what a person is asked first. These are held against the policy's own schema
 * when it is compiled: that is also what editors read, and only who has rules should load it.
 */
export const policySections = {
  template: z.unknown().optional(),
  blockedTools: z.unknown().optional(),
  rules: z.unknown().optional(),
  limits: z.unknown().optional(),
  approvals: z.unknown().optional(),
};

export const POLICY_SECTIONS = Object.keys(policySections) as (keyof typeof policySections)[];

export const journalSection = z.strictObject({
  url: z
    .union([z.string().min(1), secretSource])
    .optional()
    .describe(
      'sqlite:PATH, memory: or postgres://…; with a password it must be a secret. Default: sqlite:journal.db in the data directory.',
    ),
  keys: z
    .record(z.string(), z.string().min(1))
    .default({})
    .describe('What makes two calls the same act, by tool: { "refund": "refund:{payment_id}" }.'),
  retentionDays: z
    .number()
    .positive()
    .max(3650)
    .optional()
    .describe('How long finished operations are kept. Default: 30.'),
  undeliveredHoldHours: z
    .number()
    .positive()
    .max(720)
    .optional()
    .describe(
      'How long an executed operation whose result was not delivered answers a repeat with that result. Default: 12.',
    ),
  maxPendingApprovals: z
    .int()
    .min(1)
    .max(100_000)
    .optional()
    .describe('How many requests of one account may wait for a person. Default: 100.'),
});

const webAddress = z.url({ protocol: /^https?$/, error: 'must begin with https:// or http://' });

export const notifySection = z
  .strictObject({
    webhook: z
      .strictObject({
        url: z
          .union([webAddress, secretSource])
          .describe('Gets notices as JSON by POST; a secret where knowing it is enough to use it.'),
        token: secretSource.optional().describe('The bearer token that it wants.'),
      })
      .optional(),
    command: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe('A program and its arguments; gets each notice as JSON on its standard input.'),
  })
  .describe('Whom to tell of approvals that wait and of operations that nobody knows the end of.');
