import * as z from 'zod';

/** Strictest first: the strictest of all matching rules decides. */
export const RULE_ACTIONS = Object.freeze([
  'deny',
  'require_approval',
  'dry_run',
  'allow',
] as const);
export type RuleAction = (typeof RULE_ACTIONS)[number];

export const TOOL_EFFECTS = Object.freeze(['read', 'idempotent', 'once'] as const);
export type ToolEffect = (typeof TOOL_EFFECTS)[number];

export const MODES = Object.freeze(['autopilot', 'composer'] as const);
export type Mode = (typeof MODES)[number];

export const TEMPLATE_NAMES = Object.freeze(['safe', 'standard', 'open'] as const);
export type TemplateName = (typeof TEMPLATE_NAMES)[number];

/** In the order of the week: the time test looks up the previous day by index. */
export const DAYS = Object.freeze(['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const);
export type Day = (typeof DAYS)[number];

/** The profile that the rules run in. Only `workflow` and `guard` support approvals. */
export type PolicyProfile = 'readonly' | 'api' | 'workflow' | 'guard';

/** Skips a refinement after another issue, which is then the only one reported. */
const isValid = ({ issues }: z.core.ParsePayload): boolean => issues.length === 0;

/** An object with at least one of its optional keys. The first `required` keys are not optional. */
function nonEmpty<Shape extends z.ZodRawShape>(shape: Shape, required = 0) {
  const keys = Object.keys(shape).slice(required);
  return z
    .strictObject(shape)
    .refine((value) => keys.some((key) => Object.hasOwn(value, key)), {
      when: isValid,
      error: `requires one of ${keys.join(', ')}`,
    })
    .meta({ minProperties: required + 1 });
}

const word = z.string().min(1).max(500);
const words = z.array(word).min(1).max(1000);
const names = z.union([word, words]);
const scalar = z.union([z.string(), z.number(), z.boolean()]);
const scalars = z.array(scalar).min(1).max(1000);
const number = (description: string) => z.number().optional().describe(description);
const boundsShape = {
  gt: number('Greater than.'),
  gte: number('Greater than or equal to.'),
  lt: number('Less than.'),
  lte: number('Less than or equal to.'),
};
const bounds = nonEmpty(boundsShape);
const count = (of: string) =>
  z
    .union([z.boolean(), bounds])
    .optional()
    .describe(`${of}: true for any, false for none, or a range.`);

const operators = nonEmpty({
  exists: z
    .boolean()
    .optional()
    .describe('Whether the argument is given. Null counts as not given.'),
  equals: scalar.optional().describe('Equal to this value.'),
  notEquals: scalar.optional().describe('Given and not equal to this value.'),
  in: scalars.optional().describe('Equal to one of these values.'),
  notIn: scalars.optional().describe('Given and equal to none of these values.'),
  ...boundsShape,
  contains: names
    .optional()
    .describe('A string with one of these words, or an array with such an item.'),
  matches: names.optional().describe('The whole string; * matches any characters.'),
  length: bounds.optional().describe('Characters of a string, or items of an array.'),
  links: count('Links in a string'),
  linkHostIn: words.optional().describe('A link to one of these hosts or their subdomains.'),
  linkHostNotIn: words.optional().describe('A link to any other host.'),
  mentions: count('Mentions such as @name in a string'),
  hashtags: count('Hashtags such as #word in a string'),
  cashtags: count('Cashtags such as $ABC in a string'),
});

const timeOfDay = (pattern: RegExp) =>
  z.string().regex(pattern, 'must be a time of day such as "22:00"');

const time = nonEmpty(
  {
    zone: word.describe('An IANA time zone such as Europe/Rome.'),
    between: z
      .tuple([
        timeOfDay(/^([01]\d|2[0-3]):[0-5]\d$/),
        timeOfDay(/^([01]\d|2[0-3]):[0-5]\d$|^24:00$/),
      ])
      .optional()
      .describe('Start (inclusive) and end (exclusive): ["22:00", "07:00"].'),
    days: z.array(z.enum(DAYS)).min(1).max(7).optional(),
  },
  1,
);

const cost = nonEmpty({ unit: word.describe('Such as USD.'), ...boundsShape }, 1);

/** `args`, a name, then names, array indexes, or `[*]` for every item. */
const ARGUMENT_PATH =
  /^args(\.[A-Za-z_$][\w$-]*|\["[^"]+"\])(\.[A-Za-z_$][\w$-]*|\["[^"]+"\]|\[\*\]|\[\d{1,6}\])*$/;

const selectors = z.strictObject({
  tool: names.optional().describe('The tool, by name or pattern: x_post_tweet, x_*.'),
  category: names.optional().describe('The category of the tool.'),
  effect: z
    .union([z.enum(TOOL_EFFECTS), z.array(z.enum(TOOL_EFFECTS)).min(1).max(3)])
    .optional()
    .describe('The effect of the tool. A rule covers read tools only if "read" is listed here.'),
  account: names.optional().describe('The configured account that the call acts for.'),
  cost: cost.optional().describe('The estimated cost of the call.'),
  time: time
    .optional()
    .describe(
      'Local time in a zone. A window over midnight belongs to the day on which it starts.',
    ),
});
const nested = (description: string) =>
  z
    .array(z.lazy(() => condition))
    .min(1)
    .max(100)
    .optional()
    .describe(description);
const members = selectors.extend({
  all: nested('Every one of these conditions.'),
  any: nested('At least one of these conditions.'),
  not: z
    .lazy(() => condition)
    .optional()
    .describe('Not this condition.'),
});
const CONDITION_KEYS = Object.keys(members.shape);

// A key that either side accepts is accepted: members by name, arguments by path.
const condition: z.ZodType<Condition, Condition> = z
  .intersection(members, z.record(z.string().regex(ARGUMENT_PATH), operators))
  .refine((given) => Object.keys(given).length > 0, {
    when: isValid,
    error: `requires one of ${CONDITION_KEYS.join(', ')}, or an argument such as args.text`,
  })
  .meta({
    id: 'policyCondition',
    description: 'All members must hold. Arguments are named by their path, such as args.text.',
  }) as z.ZodType<Condition, Condition>;

const expiresInHours = z
  .number()
  .gt(0)
  .max(8760)
  .optional()
  .describe('How long an approval request stays open.');

/** Without a colon: it marks rules of the product and of packs. */
const name = z
  .string()
  .regex(
    /^[\p{L}\p{N}][\p{L}\p{N} _.-]{0,79}$/u,
    'must be a name of at most 80 letters, digits, spaces, or any of _ . -',
  );

const when = condition.optional().describe('Default: every call of a mutation.');

const rule = z.strictObject({
  name,
  when,
  action: z.enum(RULE_ACTIONS).describe('The strictest action of all matching rules applies.'),
  reason: z.string().max(500).optional().describe('Shown to the caller or the operator.'),
  expiresInHours,
});

const amount = z.int().min(1).max(1_000_000_000).optional();
const windows = ['perMinute', 'perHour', 'perDay'] as const;

const limit = z
  .strictObject({
    when,
    perMinute: amount,
    perHour: amount,
    perDay: amount.describe('In the last 24 hours.'),
    each: z
      .enum(['account', 'tool'])
      .optional()
      .describe('Count every account or tool separately.'),
  })
  .refine((given) => windows.some((key) => Object.hasOwn(given, key)), {
    error: `requires one of ${windows.join(', ')}`,
  })
  .meta({
    anyOf: windows.map((key) => ({ required: [key] })),
    description: 'How many calls may be sent. Requires perMinute, perHour or perDay.',
  });

export const policySchema = z.strictObject({
  mode: z.enum(MODES).optional().describe('composer: every mutation requires approval.'),
  template: z
    .enum(TEMPLATE_NAMES)
    .optional()
    .describe('What applies where none of your rules match.'),
  blockedTools: words.optional().describe('Tools, by name or pattern, that never run.'),
  rules: z.array(rule).max(1000).optional(),
  limits: z.record(name, limit).optional().describe('Limits by name.'),
  approvals: z.strictObject({ expiresInHours }).optional(),
});

type ReadonlyDeep<T> = T extends object ? { readonly [Key in keyof T]: ReadonlyDeep<T[Key]> } : T;

/** A name or pattern, or several of which any may match. `*` matches any characters. */
export type Names = string | readonly string[];
export type Scalar = string | number | boolean;
/** All given bounds must hold. */
export type Bounds = ReadonlyDeep<z.input<typeof bounds>>;
/** A number of occurrences: `true` is any, `false` is none. */
export type Count = boolean | Bounds;
/** Tests of one argument. All given operators must hold, for the same value. */
export type Operators = ReadonlyDeep<z.input<typeof operators>>;
/** The estimated cost. Another unit, or no estimate, cannot be compared. */
export type CostCondition = ReadonlyDeep<z.input<typeof cost>>;
/** Local time in a zone. A window over midnight belongs to the day on which it starts. */
export type TimeCondition = ReadonlyDeep<z.input<typeof time>>;

/** All members must hold. */
export interface Condition extends ReadonlyDeep<z.input<typeof selectors>> {
  readonly all?: readonly Condition[];
  readonly any?: readonly Condition[];
  readonly not?: Condition;
  /** `args.text`, `args.media_ids[*]`, `args.tweets[0].text`, `args["a name"]`. */
  readonly [path: `args.${string}` | `args[${string}`]: Operators;
}

export type Rule = ReadonlyDeep<z.input<typeof rule>>;
/** How many calls may be sent, in sliding windows: a day is the last 24 hours. */
export type LimitRule = ReadonlyDeep<z.input<typeof limit>>;
/** The policy sections of the configuration. */
export type PolicyConfig = ReadonlyDeep<z.input<typeof policySchema>>;

/**
 * JSON Schema (2020-12) of the policy sections of the configuration. A schema that includes them
 * needs `$defs` at its root.
 */
export function policyJsonSchema() {
  return z.toJSONSchema(policySchema, {
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema !== (condition as z.core.$ZodType)) return;
      // The intersection accepts a key that either side knows; `allOf` would refuse both kinds.
      const [fixed, byPath] = jsonSchema.allOf ?? [];
      delete jsonSchema.allOf;
      Object.assign(jsonSchema, fixed, {
        minProperties: 1,
        patternProperties: { [ARGUMENT_PATH.source]: byPath?.additionalProperties },
      });
    },
  });
}
