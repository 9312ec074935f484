import {
  canonicalJson,
  type Arguments,
  type Reconcile,
  type Reconciliation,
  type ToolContext,
} from '@toolkeel/contract';
import type { ToolRules } from './config.js';
import { isObject, objectIn, type Frame } from './frame.js';
import { parseMarked } from './json-text.js';

type ReconcileRules = NonNullable<ToolRules['reconcile']>;
type Members = Readonly<Record<string, unknown>>;

/** Calls a read tool of the upstream. Undefined: no answer. */
export type ReadAlone = (
  name: string,
  args: Arguments,
  context: ToolContext,
) => Promise<Frame | undefined>;

/** What is known of the tool that is reconciled. */
export interface ReconciledTool {
  /** As the journal records it. */
  readonly name: string;
  /** The argument that carries the idempotency key of the guard, if there is one. */
  readonly idempotencyArgument: string | undefined;
}

/** How much the clocks of the guard and the server may differ. */
const SKEW_MS = 60_000;

/**
 * Settles a mutation with an unknown outcome without a person: calls a read tool with arguments of the
 * call, and looks for objects in its result that match. An object that another operation may have made
 * proves nothing (ADR 150).
 */
export function reconcileBy(
  rules: ReconcileRules,
  read: ReadAlone,
  { name, idempotencyArgument }: ReconciledTool,
): Reconcile {
  const { tool, arguments: templates, match, createdAt, authoritative } = rules;
  return {
    authoritative,
    readBack: async ({ id, args, sentAt, others }, context): Promise<Reconciliation> => {
      const isKeyed = idempotencyArgument !== undefined && args[idempotencyArgument] == null;
      const sent = isKeyed ? { ...args, [idempotencyArgument]: id } : args;
      const expected = fill(match, sent);
      const given = fill(templates, sent);
      // Without all of its values a match could find something else.
      if (!expected || !given) return { found: 'unknown' };
      const frame = await read(tool, given, context);
      const answered = frame?.message.result;
      if (!frame || !answered || answered['isError'] === true) return { found: 'unknown' };
      const { value, isExact } = contentOf(frame.line);
      const matching = findMatches(value, expected);
      const [first, ...further] = matching.filter((found) => isSince(found, createdAt, sentAt));
      if (!first) {
        // What is looked for may be one of the numbers that JavaScript cannot hold, or have no time.
        const isTimeless = matching.some((found) => timeOf(found, createdAt) === undefined);
        return { found: isExact && !(createdAt && isTimeless) ? 'absent' : 'unknown' };
      }
      // The key of the operation itself: no other has made an object with it.
      const isOwn = isKeyed && Object.values(expected).includes(id);
      if (!isOwn) {
        // After the read, because another operation may have been executed just before.
        const equal = (await others([name], createdAt === undefined ? 'all' : 'near')).filter(
          (other) => isEqual(fill(match, other.args), expected),
        );
        const since = createdAt === undefined ? -Infinity : sentAt - SKEW_MS;
        const made = equal.filter(({ executedAt = -Infinity }) => executedAt > since).length;
        // Of equal calls the first gets the first object; calls that differ could have made any of them.
        const rivals = equal.filter(
          ({ openSince = Infinity, args: theirs }) =>
            openSince <= sentAt || (openSince < Infinity && !isEqual(theirs, args)),
        ).length;
        if (1 + further.length <= made + rivals) return { found: 'unknown' };
      }
      const text = `Executed. The answer was lost; ${tool} returned: ${JSON.stringify(first)}`;
      const result = { content: [{ type: 'text', text }] };
      return { found: 'executed', data: { result, isLost: true } };
    },
  };
}

function isEqual(one: unknown, other: unknown): boolean {
  return one !== undefined && canonicalJson(one) === canonicalJson(other);
}

/** Whether an object can have been made by a call of this time. */
function isSince(found: Members, createdAt: string | undefined, sentAt: number): boolean {
  const time = timeOf(found, createdAt);
  return createdAt === undefined || (time !== undefined && time >= sentAt - SKEW_MS);
}

/** Epoch milliseconds of a date, or of a number of seconds or milliseconds. */
function timeOf(found: Members, createdAt: string | undefined): number | undefined {
  const value = createdAt === undefined ? undefined : found[createdAt];
  if (typeof value === 'number') return value < 1e11 ? value * 1000 : value;
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

/** Replaces `{name}` with an argument. Undefined if an argument is missing. */
function fill(templates: Members, args: Arguments): Members | undefined {
  let isComplete = true;
  const valueOf = (name: string): unknown => {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    if (value === undefined || value === null) isComplete = false;
    return value;
  };
  const filled = Object.entries(templates).map(([name, template]) => {
    if (typeof template !== 'string') return [name, template] as const;
    const [, whole] = /^\{([^{}]+)\}$/.exec(template) ?? [];
    if (whole !== undefined) return [name, valueOf(whole)] as const;
    const text = template.replaceAll(/\{([^{}]+)\}/g, (_, part: string) => String(valueOf(part)));
    return [name, text] as const;
  });
  return isComplete ? Object.fromEntries(filled) : undefined;
}

/** The structured content of a result, else its texts, as JSON where they are. */
function contentOf(line: string): ReturnType<typeof parseMarked> {
  const { value, isExact } = parseMarked(line);
  const { structuredContent, content } = objectIn(value, 'result');
  if (structuredContent !== undefined) return { value: structuredContent, isExact };
  if (!Array.isArray(content)) return { value: undefined, isExact };
  const texts = (content as readonly unknown[]).map((block) => {
    const text = isObject(block) ? block['text'] : undefined;
    if (typeof text !== 'string') return { value: undefined, isExact };
    try {
      return parseMarked(text);
    } catch {
      return { value: undefined, isExact };
    }
  });
  return {
    value: texts.map((text) => text.value),
    isExact: isExact && texts.every((text) => text.isExact),
  };
}

const MAX_DEPTH = 20;

/** As the value of a member: any but null. */
const ANY = '*';

/** The objects, at any depth, whose members equal the expected ones. The same one twice counts once. */
function findMatches(value: unknown, expected: Members): readonly Members[] {
  const found = new Map<string, Members>();
  const visit = (one: unknown, depth: number): void => {
    if (typeof one !== 'object' || one === null || depth > MAX_DEPTH) return;
    if (isObject(one)) {
      const isMatch = Object.entries(expected).every(([name, wanted]) => {
        if (wanted === ANY) return one[name] !== undefined && one[name] !== null;
        return JSON.stringify(one[name]) === JSON.stringify(wanted);
      });
      if (isMatch) return void found.set(JSON.stringify(one), one);
    }
    for (const member of Object.values(one)) visit(member, depth + 1);
  };
  visit(value, 0);
  return [...found.values()];
}
