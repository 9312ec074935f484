import { MODES, PROFILES, zodType, type Pack, type Schema } from '@toolkeel/contract';
import { definePolicy, presets } from '@toolkeel/kernel/policy';
import { secretSource, type SecretSource } from '@toolkeel/pack-kit/base';
import * as z from 'zod';
import { LOG_LEVELS } from '../log/log.js';
import { toolFilterSchema } from './tool-filter.js';

export function isSecretSource(value: unknown): value is SecretSource {
  // Called for every value of a configuration, so the cheap test comes before parsing.
  if (typeof value !== 'object' || value === null || !('env' in value || 'file' in value))
    return false;
  return secretSource.safeParse(value).success;
}

/**
 * The rules of the policy. The policy's own schema validates them when they are compiled, so that a
 * process without rules does not load it.
 */
const policySections = {
  template: z.unknown().optional(),
  blockedTools: z.unknown().optional(),
  rules: z.unknown().optional(),
  limits: z.unknown().optional(),
  approvals: z.unknown().optional(),
};

export const POLICY_SECTIONS = Object.keys(policySections) as (keyof typeof policySections)[];

const journal = z.strictObject({
  url: z
    .union([z.string().min(1), secretSource])
    .optional()
    .describe(
      'sqlite:PATH, memory: or postgres://…; with a password it must be a secret source. Default: sqlite:journal.db in the data directory.',
    ),
  keys: z
    .record(z.string(), z.string().min(1))
    .default({})
    .describe('Dedup key templates by tool: { "refund": "refund:{payment_id}" }.'),
  retentionDays: z
    .number()
    .positive()
    .max(3650)
    .optional()
    .describe('How long settled operations are kept. Default: 30.'),
  undeliveredHoldHours: z
    .number()
    .positive()
    .max(720)
    .optional()
    .describe(
      'How long a repeat of an executed operation is answered with its result, if that result was not delivered. Default: 12.',
    ),
  maxPendingApprovals: z
    .int()
    .min(1)
    .max(100_000)
    .optional()
    .describe('The maximum number of pending approvals per account. Default: 100.'),
});

const webhookUrl = z.url({ protocol: /^https?$/, error: 'must begin with https:// or http://' });

const notify = z
  .strictObject({
    webhook: z
      .strictObject({
        url: z
          .union([webhookUrl, secretSource])
          .describe(
            'Receives notifications as JSON by POST. Use a secret source if the URL alone grants access.',
          ),
        token: secretSource.optional().describe('The bearer token to send.'),
      })
      .optional(),
    command: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe('A program and its arguments; receives each notification as JSON on stdin.'),
  })
  .describe('Where to send notifications of pending approvals and unknown operations.');

const http = z.strictObject({
  host: z
    .string()
    .min(1)
    .optional()
    .describe('Default: 127.0.0.1. Any other than a loopback address requires a token.'),
  port: z.int().min(0).max(65_535).optional().describe('Default: 7411.'),
  token: secretSource.optional().describe('The bearer token that clients must send.'),
  metricsToken: secretSource
    .optional()
    .describe('The bearer token for /metrics, which then accepts no other. Default: token.'),
  allowedHosts: z
    .array(z.string().min(1))
    .optional()
    .describe('Additional host names that clients may use for this server.'),
  allowedOrigins: z
    .array(z.string().min(1))
    .optional()
    .describe('Host names of web pages that may call this server.'),
  bodyLimitBytes: z.int().min(1024).optional().describe('Default: 4 MiB.'),
  graceSecs: z
    .number()
    .min(0)
    .max(3600)
    .optional()
    .describe(
      'How long in-flight calls may continue when the server stops. Default: until their deadlines.',
    ),
});

/** Overrides of a retry preset. The kernel validates them and names the invalid member. */
const policyOverrides = z.looseObject({}).superRefine((given, context) => {
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
  upstreams: z.record(z.string(), z.looseObject({})).describe('MCP servers to guard.'),
} satisfies Record<string, z.ZodType>;

export type SectionName = keyof typeof sections;

export interface SchemaOptions {
  readonly packs?: readonly Pick<Pack, 'name' | 'configSchema'>[];
  /** Packs that exist but are not in use: their names are accepted, their settings not validated. */
  readonly otherPacks?: readonly string[];
  /** Accepts packs of modules that are not loaded, for editors. */
  readonly modules?: boolean;
  /** Schemas of sections that other packages own: `upstreams`. */
  readonly sections?: Readonly<Partial<Record<SectionName, Schema>>>;
}

const modulePack = z.looseObject({
  module: z
    .string()
    .min(1)
    .describe('The module of the pack: a file, relative to this one, or the name of a package.'),
});

const base = z.strictObject({
  $schema: z.string().optional(),
  profile: z.enum(PROFILES).default('readonly').describe('Which tools the server registers.'),
  mode: z.enum(MODES).optional().describe('For the workflow profile. Default: composer.'),
  dataDir: z.string().min(1).optional().describe('Where the journal and its key are stored.'),
  log: z.strictObject({ level: z.enum([...LOG_LEVELS, 'silent']).default('info') }).prefault({}),
  toolTimeoutSecs: seconds
    .optional()
    .describe('The time limit of a call. The settings of a pack may override it.'),
  byteBudget: z
    .int()
    .min(16_384)
    .max(4_194_304)
    .optional()
    .describe('The maximum size of a tool result, in bytes of JSON. Default: 48 KiB.'),
  policies: z
    .partialRecord(z.enum(Object.keys(presets) as [keyof typeof presets]), policyOverrides)
    .default({})
    .describe('Overrides of the retry presets.'),
  ...policySections,
  journal: journal.prefault({}),
  notify: notify.optional(),
  http: http.prefault({}),
});

/** The schema of the configuration file, including the sections of packs and of other packages. */
export function configSchema(options: SchemaOptions = {}) {
  const { packs = [], otherPacks = [], modules = false, sections: overrides = {} } = options;
  const packShape = Object.fromEntries([
    ...otherPacks.map((name) => [name, z.looseObject({}).optional()] as const),
    ...packs.map(({ name, configSchema: schema }) => [name, zodType(schema).optional()] as const),
  ]);
  const known: Record<SectionName, Schema> = { ...sections, ...overrides };
  const optional = Object.fromEntries(
    Object.entries(known).map(([name, schema]) => [name, zodType(schema).optional()]),
  );
  // Without a list of packs, any name is accepted.
  const packSection =
    packs.length === 0
      ? z.record(z.string(), z.looseObject({})).default({})
      : (modules ? z.object(packShape).catchall(modulePack) : z.strictObject(packShape)).prefault(
          {},
        );
  return base.extend({ packs: packSection, ...optional });
}

export type Config = z.output<typeof base> & {
  readonly packs: Readonly<Record<string, unknown>>;
} & Readonly<Partial<Record<SectionName, unknown>>>;

/** The JSON Schema of the configuration file, for editors. */
export async function configJsonSchema(
  options: SchemaOptions = {},
): Promise<Readonly<Record<string, unknown>>> {
  const { policyJsonSchema } = await import('@toolkeel/policy');
  const { $schema, ...schema } = z.toJSONSchema(configSchema({ ...options, modules: true }), {
    io: 'input',
    unrepresentable: 'any',
  });
  const policy = policyJsonSchema();
  return {
    $schema,
    title: 'Configuration of Toolkeel',
    ...schema,
    properties: {
      ...schema.properties,
      ...policy.properties,
      packs: withToolFilters(schema.properties?.['packs']),
    },
    $defs: { ...schema.$defs, ...policy.$defs },
  };
}

/** Adds `tools` to the section of every pack; the packs' own schemas do not contain it. */
function withToolFilters(packs: z.core.JSONSchema._JSONSchema | undefined) {
  if (typeof packs !== 'object' || !packs.properties) return packs;
  const { $schema: _, ...tools } = z.toJSONSchema(toolFilterSchema);
  const extended = Object.entries(packs.properties).map(([name, section]) => [
    name,
    typeof section === 'object'
      ? { ...section, properties: { ...section.properties, tools } }
      : section,
  ]);
  return { ...packs, properties: Object.fromEntries(extended) as typeof packs.properties };
}
