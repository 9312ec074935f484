import { DAYS, MODES, RULE_ACTIONS, TEMPLATE_NAMES, TOOL_EFFECTS } from './words.js';

const number = (description: string) => ({ type: 'number', description }) as const;

const bounds = {
  gt: number('More than this.'),
  gte: number('This or more.'),
  lt: number('Less than this.'),
  lte: number('This or less.'),
} as const;

const word = { type: 'string', minLength: 1, maxLength: 500 } as const;
const words = { type: 'array', items: word, minItems: 1, maxItems: 1000 } as const;
const scalar = { type: ['string', 'number', 'boolean'] } as const;
const scalars = { type: 'array', items: scalar, minItems: 1, maxItems: 1000 } as const;

const names = (description: string) =>
  ({
    type: ['string', 'array'],
    minLength: 1,
    maxLength: 500,
    items: word,
    minItems: 1,
    maxItems: 1000,
    description,
  }) as const;

const count = (of: string) =>
  ({
    type: ['boolean', 'object'],
    properties: bounds,
    additionalProperties: false,
    minProperties: 1,
    description: `${of}: true for any, false for none, or how many.`,
  }) as const;

const operators = {
  type: 'object',
  minProperties: 1,
  additionalProperties: false,
  properties: {
    exists: { type: 'boolean', description: 'Whether it is given.' },
    equals: { ...scalar, description: 'Exactly this.' },
    notEquals: { ...scalar, description: 'Given, and something else.' },
    in: { ...scalars, description: 'One of these.' },
    notIn: { ...scalars, description: 'Given, and none of these.' },
    ...bounds,
    contains: names('Any of these words in a text, or a list with such an item.'),
    matches: names('The whole text, where * stands for any characters.'),
    length: {
      type: 'object',
      properties: bounds,
      additionalProperties: false,
      minProperties: 1,
      description: 'Characters of a text, or items of a list.',
    },
    links: count('Links in a text'),
    linkHostIn: { ...words, description: 'A link to one of these hosts, or to a part of them.' },
    linkHostNotIn: { ...words, description: 'A link to any other host.' },
    mentions: count('Mentions such as @name in a text'),
    hashtags: count('Hashtags such as #word in a text'),
    cashtags: count('Cashtags such as $ABC in a text'),
  },
} as const;

const clock = (pattern: string) =>
  ({ type: 'string', pattern, description: 'a time of day such as "22:00"' }) as const;

const time = {
  type: 'object',
  required: ['zone'],
  minProperties: 2,
  additionalProperties: false,
  description: 'By the clock of a place. A window over midnight belongs to the day it begins.',
  properties: {
    zone: { ...word, description: 'A time zone such as Europe/Rome.' },
    between: {
      type: 'array',
      prefixItems: [
        clock('^([01]\\d|2[0-3]):[0-5]\\d$'),
        clock('^([01]\\d|2[0-3]):[0-5]\\d$|^24:00$'),
      ],
      minItems: 2,
      maxItems: 2,
      description: 'From the first, and before the second: ["22:00", "07:00"].',
    },
    days: { type: 'array', items: { enum: DAYS }, minItems: 1, maxItems: 7 },
  },
} as const;

const cost = {
  type: 'object',
  required: ['unit'],
  minProperties: 2,
  additionalProperties: false,
  description: 'What the call is estimated to cost.',
  properties: { unit: { ...word, description: 'Such as USD.' }, ...bounds },
} as const;

const nested = { $ref: '#/$defs/policyCondition' } as const;
const several = { type: 'array', items: nested, minItems: 1, maxItems: 100 } as const;

/** `args`, then a name, then names, places in lists, or any place in a list. */
const ARGUMENT_PATH =
  '^args(\\.[A-Za-z_$][\\w$\\-]*|\\["[^"]+"\\])(\\.[A-Za-z_$][\\w$\\-]*|\\["[^"]+"\\]|\\[\\*\\]|\\[\\d{1,6}\\])*$';

const condition = {
  type: 'object',
  minProperties: 1,
  additionalProperties: false,
  description: 'All members must hold. Arguments are named by their path, such as args.text.',
  properties: {
    tool: names('The tool, by name or pattern: x_post_tweet, x_*.'),
    category: names('The category of the tool.'),
    effect: {
      anyOf: [
        { enum: TOOL_EFFECTS },
        { type: 'array', items: { enum: TOOL_EFFECTS }, minItems: 1, maxItems: 3 },
      ],
      description: 'What the tool does to the world. Tools that read are meant only if named here.',
    },
    account: names('The configured account that the call acts for.'),
    cost,
    time,
    all: { ...several, description: 'Every one of these.' },
    any: { ...several, description: 'At least one of these.' },
    not: { ...nested, description: 'Not this.' },
  },
  patternProperties: { [ARGUMENT_PATH]: operators },
} as const;

const expiresInHours = {
  type: 'number',
  exclusiveMinimum: 0,
  maximum: 8760,
  description: 'How long a person may take to decide.',
} as const;

/** Names that are shown to people; a colon marks those that are not the user's own. */
const NAME = '^[\\p{L}\\p{N}][\\p{L}\\p{N} _.\\-]{0,79}$';
const name = {
  type: 'string',
  pattern: NAME,
  description: 'a name of at most 80 letters, digits, spaces, or any of _ . -',
} as const;

const rule = {
  type: 'object',
  required: ['name', 'action'],
  additionalProperties: false,
  properties: {
    name,
    when: { ...nested, description: 'Left out: every call that changes something.' },
    action: { enum: RULE_ACTIONS, description: 'The strictest of all rules that match decides.' },
    reason: { type: 'string', maxLength: 500, description: 'Told to whoever is refused or asked.' },
    expiresInHours,
  },
} as const;

const amount = { type: 'integer', minimum: 1, maximum: 1_000_000_000 } as const;

const limit = {
  type: 'object',
  additionalProperties: false,
  anyOf: [{ required: ['perMinute'] }, { required: ['perHour'] }, { required: ['perDay'] }],
  description: 'How much may be sent. Needs perMinute, perHour or perDay.',
  properties: {
    when: { ...nested, description: 'Left out: every call that changes something.' },
    perMinute: amount,
    perHour: amount,
    perDay: { ...amount, description: 'In the last 24 hours.' },
    each: { enum: ['account', 'tool'], description: 'Count each one by itself.' },
  },
} as const;

/**
 * JSON Schema (2020-12) of the sections of the configuration that are about policy. Whoever puts
 * them into a larger schema puts `$defs` at its root.
 */
export const policyJsonSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    mode: { enum: MODES, description: 'composer: a person is asked before anything is changed.' },
    template: { enum: TEMPLATE_NAMES, description: 'What holds where no rule of yours matches.' },
    blockedTools: { ...words, description: 'Tools, by name or pattern, that are never run.' },
    rules: { type: 'array', items: rule, maxItems: 1000 },
    limits: {
      type: 'object',
      propertyNames: name,
      additionalProperties: limit,
      description: 'How much may be sent, by the name of the limit.',
    },
    approvals: { type: 'object', additionalProperties: false, properties: { expiresInHours } },
  },
  $defs: { policyCondition: condition },
} as const;
