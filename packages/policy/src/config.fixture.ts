import fc from 'fast-check';
import { DAYS, MODES, RULE_ACTIONS, TEMPLATE_NAMES, TOOL_EFFECTS } from './config.js';

type Members = Readonly<Record<string, fc.Arbitrary<unknown>>>;

/** Up to three of these members, and at least `least`. */
const few = (members: Members, least = 0): fc.Arbitrary<object> => {
  const all = Object.entries(members);
  return fc
    .subarray(all, { minLength: least, maxLength: Math.min(3, all.length) })
    .chain((chosen) => fc.record(Object.fromEntries(chosen)));
};

const number = fc.double({ noNaN: true, noDefaultInfinity: true });
const word = fc.string({ minLength: 1, maxLength: 12, unit: 'binary' });
const words = fc.array(word, { minLength: 1, maxLength: 3 });
const scalar = fc.oneof(fc.string({ maxLength: 8 }), number, fc.boolean());
const scalars = fc.array(scalar, { minLength: 1, maxLength: 3 });
const names = fc.oneof(word, words);
const bounds = { gt: number, gte: number, lt: number, lte: number };
const someBounds = few(bounds, 1);
const count = fc.oneof(fc.boolean(), someBounds);

const operators = few(
  {
    ...bounds,
    exists: fc.boolean(),
    equals: scalar,
    notEquals: scalar,
    in: scalars,
    notIn: scalars,
    contains: names,
    matches: names,
    length: someBounds,
    links: count,
    linkHostIn: words,
    linkHostNotIn: words,
    mentions: count,
    hashtags: count,
    cashtags: count,
  },
  1,
);

const clock = fc
  .tuple(fc.nat(23), fc.nat(59))
  .map((parts) => parts.map((part) => String(part).padStart(2, '0')).join(':'));
const time = fc
  .record(
    {
      zone: word,
      between: fc.tuple(clock, fc.oneof(clock, fc.constant('24:00'))),
      days: fc.array(fc.constantFrom(...DAYS), { minLength: 1, maxLength: 7 }),
    },
    { requiredKeys: ['zone'] },
  )
  .filter((made) => Object.keys(made).length > 1);
const cost = few(bounds, 1).chain((made) => word.map((unit) => ({ ...made, unit })));

const path = fc.constantFrom(
  'args.text',
  'args.media_ids[*]',
  'args.tweets[0].text',
  'args["a name"].x-y',
  'args.$a._b[12]',
);

const effect = fc.constantFrom(...TOOL_EFFECTS);
const plain = {
  tool: names,
  category: names,
  effect: fc.oneof(effect, fc.array(effect, { minLength: 1, maxLength: 3 })),
  account: names,
  cost,
  time,
};

/** Of a fixed depth, because random recursion may not end. */
function conditionOf(depth: number): fc.Arbitrary<object> {
  const inner = depth === 0 ? undefined : conditionOf(depth - 1);
  const several = inner && fc.array(inner, { minLength: 1, maxLength: 2 });
  const members = inner && several ? { ...plain, all: several, any: several, not: inner } : plain;
  return fc
    .tuple(few(members, 1), fc.dictionary(path, operators, { maxKeys: 1 }))
    .map(([fixed, args]) => ({ ...fixed, ...args }));
}
const condition = fc.oneof(conditionOf(0), conditionOf(0), conditionOf(1), conditionOf(2));

const name = fc
  .stringMatching(/^[a-zé0-9][a-z0-9 _.-]{0,20}$/)
  .filter((made) => made !== '__proto__');
const hours = fc.double({ min: 0.01, max: 8760, noNaN: true });
const rule = fc.record(
  {
    name,
    when: condition,
    action: fc.constantFrom(...RULE_ACTIONS),
    reason: fc.string({ maxLength: 20 }),
    expiresInHours: hours,
  },
  { requiredKeys: ['name', 'action'] },
);
const amount = fc.integer({ min: 1, max: 1000 });
const limit = few({
  when: condition,
  perMinute: amount,
  perHour: amount,
  each: fc.constantFrom('account', 'tool'),
}).chain((made) => amount.map((perDay) => ({ ...made, perDay })));

/** Well-formed configurations; the names in them need not exist. */
export const wellFormed: fc.Arbitrary<object> = fc
  .tuple(
    fc.array(rule, { minLength: 1, maxLength: 2 }),
    few({
      mode: fc.constantFrom(...MODES),
      template: fc.constantFrom(...TEMPLATE_NAMES),
      blockedTools: words,
      limits: fc.dictionary(name, limit, { maxKeys: 2 }),
      approvals: few({ expiresInHours: hours }),
    }),
  )
  .map(([rules, others]) => ({ rules, ...others }));

const wrong = fc.oneof(
  fc.constantFrom<unknown>(null, true, '', -1, 0.5, 1e12, [], {}, 'x'.repeat(600), 'deny', '25:00'),
  fc.jsonValue({ maxDepth: 2 }),
);

/** With one random change: mostly malformed, sometimes still valid. */
export const malformed: fc.Arbitrary<unknown> = fc
  .tuple(wellFormed, fc.nat(), wrong, fc.constantFrom('replace', 'remove', 'add', 'rename'))
  .map(([config, at, value, how]) => {
    const places: { holder: Record<string, unknown>; key: string }[] = [];
    const copy = structuredClone(config);
    const visit = (holder: object): void => {
      for (const [key, inner] of Object.entries(holder)) {
        places.push({ holder: holder as Record<string, unknown>, key });
        if (typeof inner === 'object' && inner !== null) visit(inner as object);
      }
    };
    visit(copy);
    const place = places[at % Math.max(1, places.length)];
    if (!place) return value;
    const { holder, key } = place;
    if (how === 'replace') holder[key] = value;
    else if (how === 'add') holder[`${key}x`] = value;
    else {
      if (how === 'rename') holder[`${key}_`] = holder[key];
      if (Array.isArray(holder)) holder.splice(Number(key), 1);
      else Reflect.deleteProperty(holder, key);
    }
    return copy;
  });
