/** The start and the end of a value in a text. */
type Span = readonly [start: number, end: number];

interface Member {
  /** As it is written. */
  readonly key: string;
  readonly value: Span;
}

/** A number that JavaScript cannot hold: `1790000000000000001` is read as 1790000000000000000. */
interface InexactNumber {
  /** The names of the members that lead to it, without positions in arrays. */
  readonly path: readonly string[];
  readonly span: Span;
}

/** Deeper values are not told apart; they keep their text only as part of a value that contains them. */
const MAX_DEPTH = 500;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** JavaScript keeps up to 15 digits, and exponents of up to two. */
const SUSPICIOUS = /[\d.]{16}|\d[eE][+-]?\d{3}/;
const PARTS = /^(-?)(\d+)(?:\.(\d+))?(?:[eE](.*))?$/;
const PLAIN = /^-?\d{1,15}$/;

/**
 * The JSON of a value that was made from another one: whatever was taken over from `origin`, which was
 * read from `text`, keeps the text it has there, so that numbers and escapes stay as they were written.
 */
export function rewriteJson(value: unknown, origin: unknown, text: string): string {
  let known: ReadonlyMap<object, Span> | undefined;
  const emit = (one: unknown, old: unknown, span: Span | undefined): string => {
    if (span && one === old) return text.slice(...span);
    if (one === undefined) return 'null';
    if (!isContainer(one)) return JSON.stringify(one);
    known ??= spansOf(origin, text);
    const moved = known.get(one);
    if (moved) return text.slice(...moved);
    const isAligned = span !== undefined && isContainer(old);
    if (Array.isArray(one)) {
      const items: readonly unknown[] = one;
      const before: readonly unknown[] = Array.isArray(old) ? old : [];
      const spans = isAligned && before.length === items.length ? elements(text, span[0]) : [];
      return `[${items.map((item, at) => emit(item, before[at], spans[at])).join(',')}]`;
    }
    const before = isAligned && !Array.isArray(old) ? old : {};
    const written = isAligned && !Array.isArray(old) ? members(text, span[0]) : new Map();
    return `{${emitMembers(one, before, written).join(',')}}`;
  };
  const emitMembers = (
    one: object,
    old: object,
    written: ReadonlyMap<string, Member>,
  ): readonly string[] => {
    const entries = new Map(Object.entries(one).filter(([, member]) => member !== undefined));
    const names = [...written.keys()].filter((name) => entries.has(name));
    const all = new Set([...names, ...entries.keys()]);
    return [...all].map((name) => {
      const { key = JSON.stringify(name), value: span } = written.get(name) ?? {};
      return `${key}:${emit(entries.get(name), memberOf(old, name), span)}`;
    });
  };
  const start = skipSpace(text, 0);
  return emit(value, origin, [start, valueEnd(text, start)]);
}

/** The texts of the elements of an array. */
export function elementTexts(text: string): readonly string[] {
  return elements(text, skipSpace(text, 0)).map((span) => text.slice(...span));
}

/** The numbers of a JSON text that JavaScript would change. The usual text is read once, by a pattern. */
export function inexactNumbers(text: string): readonly InexactNumber[] {
  if (!SUSPICIOUS.test(text)) return [];
  const found: InexactNumber[] = [];
  const path: (string | undefined)[] = [];
  let last: Span = [0, 0];
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    if (char === '"') {
      last = [at, stringEnd(text, at)];
      at = last[1] - 1;
    } else if (char === ':') path[path.length - 1] = text.slice(...last);
    else if (char === '{' || char === '[') path.push(undefined);
    else if (char === '}' || char === ']') path.pop();
    else if (char === '-' || (char >= '0' && char <= '9')) {
      NUMBER.lastIndex = at;
      const [number = char] = NUMBER.exec(text) ?? [];
      if (!isExact(number)) {
        const names = path.flatMap((key) => (key === undefined ? [] : [readKey(key)]));
        found.push({ path: names, span: [at, at + number.length] });
      }
      at += number.length - 1;
    }
  }
  return found;
}

/**
 * The name of a member that an object has twice, or that a parser may leave out. Parsers differ in which
 * of two they take, so what was judged need not be what is executed.
 */
export function ambiguousMember(text: string): string | undefined {
  const objects: (Set<string> | undefined)[] = [];
  let last: Span = [0, 0];
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    if (char === '"') {
      last = [at, stringEnd(text, at)];
      at = last[1] - 1;
    } else if (char === ':') {
      const name = readKey(text.slice(...last));
      const names = (objects[objects.length - 1] ??= new Set());
      if (names.has(name) || name === '__proto__') return name;
      names.add(name);
    } else if (char === '{' || char === '[') objects.push(undefined);
    else if (char === '}' || char === ']') objects.pop();
  }
  return undefined;
}

const ROUTED: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params']);
const CALLED: ReadonlySet<string> = new Set(['name', 'arguments']);

/**
 * The name of a member that decides what a message is, if a server could read it differently: it is there
 * twice, or in another case, which parsers such as that of Go ignore.
 */
export function ambiguousRoute(text: string): string | undefined {
  let found: string | undefined;
  const visit = (start: number, names: ReadonlySet<string>): number => {
    const seen: string[] = [];
    return scan(text, start, (key, from) => {
      if (typeof key === 'number') return valueEnd(text, from);
      const name = readKey(key);
      const folded = names.has(name) ? name : fold(name);
      if (names.has(folded)) {
        if (name !== folded || seen.includes(name)) found ??= name;
        seen.push(name);
      }
      const isCall = names === ROUTED && name === 'params' && text[from] === '{';
      return isCall ? visit(from, CALLED) : valueEnd(text, from);
    });
  };
  visit(skipSpace(text, 0), ROUTED);
  return found;
}

/** Equal for names that differ in case only; the upper case of U+017F is S. */
export function fold(name: string): string {
  return name.toUpperCase().toLowerCase();
}

/** Reads JSON; a number that JavaScript would change becomes a text that no number equals. */
export function parseMarked(text: string): { readonly value: unknown; readonly isExact: boolean } {
  const numbers = inexactNumbers(text);
  let from = 0;
  const parts = numbers.map(({ span: [start, end] }) => {
    const part = `${text.slice(from, start)}"number ${text.slice(start, end)}"`;
    from = end;
    return part;
  });
  const value: unknown = JSON.parse(parts.join('') + text.slice(from));
  return { value, isExact: numbers.length === 0 };
}

/** Whether a number keeps its value: 1.0 does, as 1. */
function isExact(number: string): boolean {
  if (PLAIN.test(number)) return true;
  const value = Number(number);
  return Number.isFinite(value) && decimalOf(number) === decimalOf(String(value));
}

/** A form that two texts of one number share: its digits and an exponent. */
function decimalOf(number: string): string {
  const [, sign = '', whole = '', fraction = '', power = '0'] = PARTS.exec(number) ?? [];
  const digits = whole + fraction;
  let start = 0;
  while (digits[start] === '0') start++;
  let end = digits.length;
  while (end > start && digits[end - 1] === '0') end--;
  if (start === end) return '0';
  const scale = Number(power) - fraction.length + (digits.length - end);
  return `${sign}${digits.slice(start, end)}e${scale}`;
}

/** Where the objects and arrays of a value are in its text. */
function spansOf(root: unknown, text: string): ReadonlyMap<object, Span> {
  const spans = new Map<object, Span>();
  const visit = (value: unknown, start: number, depth: number): number => {
    if (!isContainer(value) || depth > MAX_DEPTH) return valueEnd(text, start);
    const end = scan(text, start, (key, from) =>
      visit(memberOf(value, typeof key === 'string' ? readKey(key) : key), from, depth + 1),
    );
    spans.set(value, [start, end]);
    return end;
  };
  visit(root, skipSpace(text, 0), 0);
  return spans;
}

/** The members of an object; of two with one name the last, as for `JSON.parse`. */
function members(text: string, start: number): ReadonlyMap<string, Member> {
  const found = new Map<string, Member>();
  scan(text, start, (key, from) => {
    const end = valueEnd(text, from);
    if (typeof key === 'string') found.set(readKey(key), { key, value: [from, end] });
    return end;
  });
  return found;
}

function elements(text: string, start: number): readonly Span[] {
  const found: Span[] = [];
  scan(text, start, (_, from) => {
    const end = valueEnd(text, from);
    found.push([from, end]);
    return end;
  });
  return found;
}

/**
 * Goes through an object or an array. `visit` gets the key as it is written, or the position, and the
 * start of the value, and returns the end of the value. Returns the end of the whole.
 */
function scan(
  text: string,
  start: number,
  visit: (key: string | number, from: number) => number,
): number {
  const isObject = text[start] === '{';
  if (!isObject && text[start] !== '[') return valueEnd(text, start);
  let at = skipSpace(text, start + 1);
  for (let index = 0; at < text.length && text[at] !== ']' && text[at] !== '}'; index++) {
    const keyEnd = isObject ? stringEnd(text, at) : at;
    const key = isObject ? text.slice(at, keyEnd) : index;
    const from = isObject ? skipSpace(text, skipSpace(text, keyEnd) + 1) : at;
    at = skipSpace(text, visit(key, from));
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return at + 1;
}

function skipSpace(text: string, start: number): number {
  let at = start;
  while (at < text.length && text.charCodeAt(at) <= SPACE) at++;
  return at;
}

const SPACE = 0x20;
const QUOTE = 0x22;
/** `[` and `{`, `]` and `}` differ in this bit only. */
const BRACE_BIT = 0x20;
const OPENING = 0x7b;
const CLOSING = 0x7d;

function valueEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = stringEnd(text, at) - 1;
      if (depth === 0) return at + 1;
    } else if ((code | BRACE_BIT) === OPENING) depth++;
    else if ((code | BRACE_BIT) === CLOSING) {
      depth--;
      // Below zero: the end of the list that contains a number or a word.
      if (depth <= 0) return depth === 0 ? at + 1 : at;
    } else if (depth === 0 && (code <= SPACE || text[at] === ',')) return at;
  }
  return text.length;
}

function stringEnd(text: string, start: number): number {
  for (let at = start + 1; ; at++) {
    at = text.indexOf('"', at);
    if (at < 0) return text.length;
    let slashes = 0;
    while (text[at - 1 - slashes] === '\\') slashes++;
    if (slashes % 2 === 0) return at + 1;
  }
}

function readKey(key: string): string {
  return key.includes('\\') ? (JSON.parse(key) as string) : key.slice(1, -1);
}

function memberOf(value: object, name: string | number): unknown {
  return Object.hasOwn(value, name) ? (value as Record<string | number, unknown>)[name] : undefined;
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
