import { definePolicy } from '@toolkeel/kernel/policy';
import { httpUrl, secretSource } from '@toolkeel/pack-kit/base';
import * as z from 'zod';
import { toolFeatures, upstreamFeatures } from './features.js';

const effect = z.enum(['read', 'idempotent', 'once']);

const condition = z.record(
  z.string(),
  z.union([
    z.string(),
    z.number(),
    z.boolean(),
    z.array(z.union([z.string(), z.number(), z.boolean()])),
    z
      .strictObject({ exists: z.boolean() })
      .describe('Whether the argument is given. Null counts as not given.'),
  ]),
);

export const toolRules = z.strictObject({
  effect: effect.optional().describe('What a call does. Overrides the annotations of the tool.'),
  when: z
    .array(z.strictObject({ arguments: condition, effect }))
    .optional()
    .describe(
      'Effects by argument value; the first match applies: [{ "arguments": { "method": ["get", "list"] }, "effect": "read" }]. "a.b" names a nested argument, "a[*].b" a member of any item of an array.',
    ),
  key: z
    .string()
    .regex(
      /^[^{}]*(\{[^{}]+\}[^{}]*)+$/,
      'must name an argument in braces, such as "refund:{payment_id}"',
    )
    .optional()
    .describe('What makes two calls the same act: "refund:{payment_id}".'),
  timeoutSecs: z.number().positive().max(3600).optional().describe('The time limit of a call.'),
  cacheSecs: z
    .number()
    .positive()
    .max(86_400)
    .optional()
    .describe('How long the result of a read answers equal calls. Default: not at all.'),
  idempotencyArgument: z
    .string()
    .min(1)
    .optional()
    .describe('The argument in which the server accepts an idempotency key; the guard sets it.'),
  reconcile: z
    .strictObject({
      tool: z.string().min(1).describe('A read tool of the same server.'),
      arguments: z
        .record(z.string(), z.unknown())
        .default({})
        .describe('Its arguments; "{name}" is replaced with an argument of the call.'),
      match: z
        .record(z.string(), z.unknown())
        .refine((given) => Object.keys(given).length > 0, 'must name a member')
        .describe(
          'Members of an object in its result that prove that the call was executed. "*" is any value but null.',
        ),
      createdAt: z
        .string()
        .min(1)
        .optional()
        .describe(
          'The member of such an object with the time of its creation. Older objects prove nothing.',
        ),
      authoritative: z
        .boolean()
        .default(false)
        .describe('Whether the call was not executed if there is no such object.'),
    })
    .optional()
    .describe('Settles a call with an unknown outcome by reading back.'),
  ...toolFeatures,
});

/** Members that only clients use. They change nothing about the server and its tools. */
export const CLIENT_MEMBERS = [
  'alwaysAllow',
  'autoApprove',
  'description',
  'dev',
  'gallery',
  'icon',
  'name',
  'timeout',
  'transportType',
  'version',
] as const;

const clientMembers = Object.fromEntries(
  CLIENT_MEMBERS.map((name) => [name, z.unknown().optional().describe('For clients. Ignored.')]),
) as Readonly<Record<(typeof CLIENT_MEMBERS)[number], z.ZodOptional<z.ZodUnknown>>>;

const valueOrSecret = z.union([z.string(), secretSource]);

/** One guarded server. An entry of a client's `mcpServers` is accepted as it is. */
export const upstreamSchema = z
  .strictObject({
    type: z.enum(['stdio', 'http', 'streamable-http', 'streamableHttp']).optional(),
    disabled: z.boolean().default(false).describe('Leaves this server out.'),
    command: z.string().min(1).optional().describe('The program of a server on stdio.'),
    args: z.array(z.string()).default([]),
    env: z
      .record(z.string(), valueOrSecret)
      .default({})
      .describe('Additional environment variables. Secrets have to be secret sources.'),
    envFile: z
      .string()
      .min(1)
      .optional()
      .describe(
        'A file with further variables, NAME=value a line. Relative to this file. Its values are redacted as secrets; `env` takes precedence.',
      ),
    cwd: z.string().min(1).optional(),
    url: httpUrl.optional().describe('The address of a server on Streamable HTTP.'),
    headers: z.record(z.string(), valueOrSecret).default({}),
    account: z
      .string()
      .min(1)
      .optional()
      .describe(
        'The account that mutations are recorded under. Default: the name of the upstream.',
      ),
    accountFrom: z
      .string()
      .min(1)
      .optional()
      .describe(
        'The environment variable with the credential of the server: its fingerprint is added to the account.',
      ),
    prefix: z
      .string()
      .regex(/^[A-Za-z0-9_.-]*$/, 'may contain only A-Z a-z 0-9 _ . -')
      .optional()
      .describe(
        'Added to the names of its tools and prompts. Default: `<name>_` if there are several upstreams, else none.',
      ),
    startWaitSecs: z
      .number()
      .min(0)
      .max(60)
      .default(3)
      .describe(
        "How long a client's handshake waits for this server if there are several; its tools appear when it is ready.",
      ),
    trust: z
      .enum(['none', 'readOnly', 'all'])
      .default('readOnly')
      .describe(
        'Which annotations count: none, readOnlyHint only, or idempotentHint as well. Default: readOnly.',
      ),
    profile: z
      .boolean()
      .default(true)
      .describe('Whether the built-in profile of a known server applies below these settings.'),
    tools: z
      .record(z.string(), toolRules)
      .default({})
      .describe('Settings by tool name or pattern ("list_*"). An exact name takes precedence.'),
    concurrency: z.int().min(1).max(10_000).default(64).describe('Calls at the same time.'),
    queue: z.int().min(0).max(100_000).default(1000).describe('Calls that wait for their turn.'),
    startTimeoutSecs: z.number().positive().max(600).default(60),
    bridge: z
      .enum(['off', 'sessions', 'all'])
      .default('sessions')
      .describe(
        'Which clients are bridged to a server of another protocol revision: none, those of 2025-11-25 and earlier, or those of 2026-07-28 as well. Default: sessions.',
      ),
    healthCheckSecs: z
      .number()
      .min(0)
      .max(86_400)
      .default(0)
      .describe(
        'How often an idle server is asked whether it responds; one that does not is restarted. Default: 0, never.',
      ),
    undeliveredHoldMinutes: z
      .number()
      .positive()
      .max(43_200)
      .default(15)
      .describe('How long a result that was not delivered answers a repeat of its call.'),
    policy: z
      .looseObject({})
      .default({})
      .superRefine((given, context) => {
        try {
          definePolicy(given);
        } catch (cause) {
          const message = cause instanceof Error ? cause.message : 'is not a policy';
          context.addIssue({ code: 'custom', message });
        }
      })
      .describe('Overrides of the preset `guard` for this upstream.'),
    ...upstreamFeatures,
    ...clientMembers,
  })
  .superRefine(({ command, url }, context) => {
    if ((command === undefined) === (url === undefined)) {
      context.addIssue({ code: 'custom', message: 'must have either a command or a url' });
    }
  });

/** The section `upstreams` of the configuration. */
export const upstreamsSchema = z.record(z.string().min(1), upstreamSchema);

export type UpstreamConfig = z.output<typeof upstreamSchema>;
export type ToolRules = z.output<typeof toolRules>;
