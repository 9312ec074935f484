import { MODES, PROFILES, zodType, type Pack, type Schema } from '@toolkeel/contract';
import { definePolicy, presets } from '@toolkeel/kernel/policy';
import * as z from 'zod';
import { LOG_LEVELS } from '../log/log.js';
import { journalSection, notifySection, policySections } from './governing.js';
import { secretSource } from './secret-source.js';

const http = z.strictObject({
  host: z
    .string()
    .min(1)
    .optional()
    .describe('Default: 127.0.0.1. What others can reach needs a token.'),
  port: z.int().min(0).max(65_535).optional().describe('Default: 7411.'),
  token: secretSource.optional().describe('The bearer token that clients must send.'),
  metricsToken: secretSource
    .optional()
    .describe('The bearer token for /metrics, which then accepts no other. Default: token.'),
  allowedHosts: z
    .array(z.string().min(1))
    .optional()
    .describe('Further names by which clients may call this server.'),
  allowedOrigins: z
    .array(z.string().min(1))
    .optional()
    .describe('Hostnames of web pages that may call it.'),
  bodyLimitBytes: z.int().min(1024).optional().describe('Default: 4 MiB.'),
  graceSecs: z
    .number()
    .min(0)
    .max(3600)
    .optional()
    .describe(
      'How long running calls may go on when the server stops. Default: all of their time.',
    ),
});

/** Numbers of a preset that are changed. The kernel knows which there are, and refuses by name. */
const policy = z.looseObject({}).superRefine((given, context) => {
  try {
    definePolicy(given);
  } catch (cause) {
    context.addIssue({
      code: 'custom',
      message: cause instanceof Error ? cause.message : 'is not a policy',
    });
  }
});

const seconds = z.number().positive().max(3600);

const sections = {
  upstreams: z.record(z.string(), z.looseObject({})).describe('Servers to guard.'),
} satisfies Record<string, z.ZodType>;

export type SectionName = keyof typeof sections;

export interface SchemaOptions {
  readonly packs?: readonly Pick<Pack, 'name' | 'configSchema'>[];
  /** Packs that exist and are not in use here: their names are known, and no more. */
  readonly otherPacks?: readonly string[];
  /** Schemas of sections that belong to others: upstreams. */
  readonly sections?: Readonly<Partial<Record<SectionName, Schema>>>;
}

const base = z.strictObject({
  $schema: z.string().optional(),
  profile: z.enum(PROFILES).default('readonly').describe('Which tools there are.'),
  mode: z.enum(MODES).optional().describe('For the workflow profile. Default: composer.'),
  dataDir: z.string().min(1).optional().describe('Where the journal and its key are kept.'),
  log: z.strictObject({ level: z.enum([...LOG_LEVELS, 'silent']).default('info') }).prefault({}),
  toolTimeoutSecs: seconds
    .optional()
    .describe('The most that one call may take. A pack may have its own.'),
  byteBudget: z
    .int()
    .min(16_384)
    .max(4_194_304)
    .optional()
    .describe('The largest answer of a tool, in bytes of JSON. Default: 48 KiB.'),
  policies: z
    .partialRecord(z.enum(Object.keys(presets) as [keyof typeof presets]), policy)
    .default({})
    .describe('Changes to the retry presets.'),
  ...policySections,
  journal: journalSection.prefault({}),
  notify: notifySection.optional(),
  http: http.prefault({}),
});

/** The whole configuration file, with the parts that packs and others bring. */
export function configSchema(options: SchemaOptions = {}) {
  const { packs = [], otherPacks = [], sections: given = {} } = options;
  const ofPacks = Object.fromEntries([
    ...otherPacks.map((name) => [name, z.looseObject({}).optional()] as const),
    ...packs.map(({ name, configSchema: schema }) => [name, zodType(schema).optional()] as const),
  ]);
  const known: Record<SectionName, Schema> = { ...sections, ...given };
  const optional = Object.fromEntries(
    Object.entries(known).map(([name, schema]) => [name, zodType(schema).optional()]),
  );
  // Without packs nobody knows their names: then any name is accepted.
  const packSection =
    packs.length === 0
      ? z.record(z.string(), z.looseObject({})).default({})
      : z.strictObject(ofPacks).prefault({});
  return base.extend({ packs: packSection, ...optional });
}

export type Config = z.output<typeof base> & {
  readonly packs: Readonly<Record<string, unknown>>;
} & Readonly<Partial<Record<SectionName, unknown>>>;
