import type { Effect } from '@toolkeel/kernel';
import type { ToolRules, UpstreamConfig } from './config.js';
import { isObject } from './frame.js';
import { fold } from './json-text.js';

/** A tool as its server describes it. */
export interface ListedTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  readonly annotations?: Readonly<Record<string, unknown>>;
}

/** The effect of a tool's calls, and the reason for it. */
export interface EffectDecision {
  readonly effect: Effect;
  readonly why: string;
  /** Of the profile that decided. */
  readonly evidence?: string;
  /** Effects by argument value; the first match applies. */
  readonly when?: NonNullable<ToolRules['when']>;
  /** The effect of a call, which may depend on its arguments. */
  readonly of: (args: Readonly<Record<string, unknown>>) => Effect;
}

/**
 * Decides what the calls of a tool do. Annotations are claims of the server: a wrong `readOnlyHint` is
 * rare, but many other hints are wrong or missing. Whatever is not known to be safe counts as `once`.
 */
export function decideEffect(
  { name, annotations = {} }: ListedTool,
  { tools, trust }: Pick<UpstreamConfig, 'tools' | 'trust'>,
  evidence?: string,
): EffectDecision {
  const rules = rulesFor(name, tools);
  const base = rules?.effect
    ? { effect: rules.effect, why: evidence === undefined ? 'configured' : 'profile' }
    : fromAnnotations(annotations, trust);
  const when = rules?.when ?? [];
  return {
    ...base,
    ...(evidence !== undefined && { evidence }),
    why: when.length > 0 ? `${base.why}, and by argument` : base.why,
    ...(when.length > 0 && { when }),
    of: (args) => {
      if (when.length === 0) return base.effect;
      if (hasVariant(when, args))
        return strictest([base.effect, ...when.map(({ effect }) => effect)]);
      return when.find((one) => matches(one.arguments, args))?.effect ?? base.effect;
    },
  };
}

type When = NonNullable<ToolRules['when']>;

/** Whether the server could read an argument that a condition names from another one: Go ignores case. */
function hasVariant(when: When, args: Readonly<Record<string, unknown>>): boolean {
  const paths = when.flatMap((one) => Object.keys(one.arguments));
  const names = paths.map((path) => path.split(/\.|\[\*\]/)[0] ?? path);
  return Object.keys(args).some((key) =>
    names.some((name) => key !== name && !paths.includes(key) && fold(key) === fold(name)),
  );
}

const RANK: Readonly<Record<Effect, number>> = Object.freeze({ read: 0, idempotent: 1, once: 2 });

/** The effect that reaches furthest. */
export function strictest(effects: readonly Effect[]): Effect {
  return effects.toSorted((one, other) => RANK[other] - RANK[one])[0] ?? 'once';
}

/**
 * The decision for a tool that its server lists differently than before. An effect may become stricter by
 * itself, but a server cannot declare that repeating a call has become safe.
 */
export function tightened(now: EffectDecision, before: EffectDecision): EffectDecision {
  const effect = strictest([now.effect, before.effect]);
  const why =
    effect === now.effect ? now.why : `${before.why}; the change to ${now.why} is not accepted`;
  return { effect, why, of: (args) => strictest([now.of(args), before.of(args)]) };
}

function fromAnnotations(
  annotations: Readonly<Record<string, unknown>>,
  trust: UpstreamConfig['trust'],
): Pick<EffectDecision, 'effect' | 'why'> {
  if (trust === 'none') return { effect: 'once', why: 'the server is not trusted' };
  if (annotations['readOnlyHint'] === true) return { effect: 'read', why: 'readOnlyHint' };
  if (annotations['idempotentHint'] === true) {
    return trust === 'all'
      ? { effect: 'idempotent', why: 'idempotentHint' }
      : { effect: 'once', why: 'idempotentHint, which is not trusted' };
  }
  return { effect: 'once', why: 'no readOnlyHint' };
}

/** The settings of a tool: of its name, else of the first pattern that matches. */
export function rulesFor(name: string, tools: UpstreamConfig['tools']): ToolRules | undefined {
  if (Object.hasOwn(tools, name)) return tools[name];
  return Object.entries(tools).find(([pattern]) => matchesPattern(pattern, name))?.[1];
}

/** `*` matches any characters. */
export function matchesPattern(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return pattern === name;
  const last = rest.pop() ?? '';
  if (!name.startsWith(first) || name.length < first.length + last.length) return false;
  if (!name.endsWith(last)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found < 0 || found + part.length > name.length - last.length) return false;
    at = found + part.length;
  }
  return true;
}

type Condition = NonNullable<ToolRules['when']>[number]['arguments'];

/**
 * Whether every named argument has one of its values, or exists. `a.b` names a nested argument, and `a[*].b` a
 * member of any item.
 */
function matches(condition: Condition, args: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(condition).every(([path, expected]) => {
    const values = valuesAt(args, path);
    if (typeof expected === 'object' && 'exists' in expected) {
      return values.some((value) => value !== undefined && value !== null) === expected.exists;
    }
    const allowed: readonly unknown[] = Array.isArray(expected) ? expected : [expected];
    return values.some((value) => allowed.includes(value));
  });
}

const EACH = '[*]';

function valuesAt(value: unknown, path: string): readonly unknown[] {
  if (!isObject(value)) return [];
  if (Object.hasOwn(value, path)) return [value[path]];
  const [first = '', ...rest] = path.split('.');
  const isEach = first.endsWith(EACH);
  const name = isEach ? first.slice(0, -EACH.length) : first;
  if (!Object.hasOwn(value, name)) return [];
  const member = value[name];
  const found = isEach ? (Array.isArray(member) ? (member as readonly unknown[]) : []) : [member];
  return rest.length === 0 ? found : found.flatMap((one) => valuesAt(one, rest.join('.')));
}
