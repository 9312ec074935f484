import type { Arguments, Reconcile, Reconciliation, ToolContext } from '@toolkeel/contract';
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

/**
 * Settles a mutation with an unknown outcome without a person: calls a read tool with arguments of the
 * call, and looks for an object in its result that matches.
 */
export function reconcileBy(rules: ReconcileRules, read: ReadAlone): Reconcile {
  const { tool, arguments: templates, match, authoritative } = rules;
  return {
    authoritative,
    readBack: async ({ args }, context): Promise<Reconciliation> => {
      const expected = fill(match, args);
      const given = fill(templates, args);
      // Without all of its values a match could find something else.
      if (!expected || !given) return { found: 'unknown' };
      const frame = await read(tool, given, context);
      const answered = frame?.message.result;
      if (!frame || !answered || answered['isError'] === true) return { found: 'unknown' };
      const { value, isExact } = contentOf(frame.line);
      const found = findMatch(value, expected);
      // What is looked for may be one of the numbers that JavaScript cannot hold.
      if (!found) return { found: isExact ? 'absent' : 'unknown' };
      const text = `Executed. The answer was lost; ${tool} returned: ${JSON.stringify(found)}`;
      const result = { content: [{ type: 'text', text }] };
      return { found: 'executed', data: { result, isLost: true } };
    },
  };
}

/** Replaces `{name}` with an argument. Undefined if an argument is missing. */
function fill(templates: Members, args: Arguments): Members | undefined {
  let isComplete = true;
  const valueOf = (name: string): unknown => {
    const value = args[name];
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

/** The first object, at any depth, whose members equal the expected ones. */
function findMatch(value: unknown, expected: Members, depth = 0): Members | undefined {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return undefined;
  if (isObject(value)) {
    const isMatch = Object.entries(expected).every(([name, wanted]) => {
      if (wanted === ANY) return value[name] !== undefined && value[name] !== null;
      return JSON.stringify(value[name]) === JSON.stringify(wanted);
    });
    if (isMatch) return value;
  }
  for (const member of Object.values(value)) {
    const found = findMatch(member, expected, depth + 1);
    if (found) return found;
  }
  return undefined;
}
