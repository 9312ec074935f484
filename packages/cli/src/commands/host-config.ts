import { createRequire } from 'node:module';
import { join } from 'node:path';
import type * as JsonC from 'jsonc-parser';
import type { JSONPath, Node, ParseError } from 'jsonc-parser';
import { UsageError } from '../errors.js';
import { named } from './upstream-names.js';

// The package has no ES module that Node.js could import.
const jsonc = createRequire(import.meta.url)('jsonc-parser') as typeof JsonC;

/** How the command line of a server is started by a client. */
interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

/** Starts the guard of a server; the command of the server, or nothing, follows. */
export type GuardLaunch = (guardArgs: readonly string[]) => Launch;

export const clients = ['claude-desktop', 'claude-code', 'cursor', 'vscode'] as const;
export type Client = (typeof clients)[number];

interface Places {
  readonly cwd: string;
  readonly home: string;
  readonly appData?: string | undefined;
  readonly platform: NodeJS.Platform;
}

/** The files in which a client keeps its servers: that of the project first. */
export function configFiles(client: Client, { cwd, home, appData, platform }: Places): string[] {
  const settings =
    platform === 'darwin'
      ? join(home, 'Library', 'Application Support')
      : platform === 'win32'
        ? (appData ?? join(home, 'AppData', 'Roaming'))
        : join(home, '.config');
  const files = {
    'claude-desktop': [join(settings, 'Claude', 'claude_desktop_config.json')],
    'claude-code': [join(cwd, '.mcp.json'), join(home, '.claude.json')],
    cursor: [join(cwd, '.cursor', 'mcp.json'), join(home, '.cursor', 'mcp.json')],
    vscode: [join(cwd, '.vscode', 'mcp.json'), join(settings, 'Code', 'User', 'mcp.json')],
  };
  return files[client];
}

export interface Rewritten {
  readonly text: string;
  /** The guarded servers by their path in the document. */
  readonly guarded: readonly JSONPath[];
  readonly skipped: readonly { readonly name: string; readonly reason: string }[];
}

/**
 * The document with a guard in front of every server that can have one. Comments, unknown members and
 * the layout stay: only the members that change are edited.
 */
export function guardServers(text: string, launch: GuardLaunch, own: string): Rewritten {
  const guarded: JSONPath[] = [];
  const skipped: { name: string; reason: string }[] = [];
  const format = formatOf(text);
  const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
  let edited = text.slice(mark.length);
  for (const { path, name, entry } of serversOf(text)) {
    // Whole lines are formatted: of an entry that shares one, that would be its neighbours too.
    const formatting = hasOwnLines(edited, path) ? { formattingOptions: format } : {};
    const set = (at: JSONPath, value: unknown, isArrayInsertion = false): void => {
      const options = { ...formatting, isArrayInsertion };
      edited = jsonc.applyEdits(edited, jsonc.modify(edited, at, value, options));
    };
    const rename = (at: JSONPath, key: string): void => {
      const [old] = jsonc.findNodeAtLocation(parseTree(edited), [...at])?.parent?.children ?? [];
      if (!old) return;
      const end = old.offset + old.length;
      edited = edited.slice(0, old.offset) + JSON.stringify(key) + edited.slice(end);
    };
    const reason = mistakeIn(entry) ?? reasonToSkip(entry, own);
    if (reason !== undefined) {
      skipped.push({ name, reason });
      continue;
    }
    guarded.push(path);
    const { command, args } = entry;
    if (typeof command === 'string') {
      const { command: program, args: before } = launch(['--name', name, '--', command]);
      set([...path, 'command'], program);
      if (!Array.isArray(args)) set([...path, 'args'], before);
      else for (const word of before.toReversed()) set([...path, 'args', 0], word, true);
    } else guardUrl(path, name, entry, launch, { set, rename });
  }
  return { text: mark + edited, guarded, skipped };
}

/** Whether there is nothing else on the lines of a member, except comments after it. */
function hasOwnLines(text: string, path: JSONPath): boolean {
  const member = jsonc.findNodeAtLocation(parseTree(text), [...path])?.parent;
  if (!member) return false;
  const end = member.offset + member.length;
  const [before = ''] = text
    .slice(0, member.offset)
    .split(/[\r\n]/)
    .slice(-1);
  const [after = ''] = text.slice(end).split(/[\r\n]/, 1);
  return before.trim() === '' && /^\s*,?\s*(\/[/*].*)?$/.test(after);
}

/** Editors of Windows write it, and no parser of JSON accepts it. */
const BYTE_ORDER_MARK = '\uFEFF';

/** The same text for a parser: offsets stay. */
function withoutMark(text: string): string {
  return text.startsWith(BYTE_ORDER_MARK) ? ` ${text.slice(1)}` : text;
}

interface MemberEdits {
  readonly set: (path: JSONPath, value: unknown) => void;
  readonly rename: (path: JSONPath, key: string) => void;
}

/**
 * A server on HTTP becomes one on stdio. Its headers, and an address that may be secret, move to variables.
 * Members are renamed where they are, so that the comments beside and in them stay.
 */
function guardUrl(
  path: JSONPath,
  name: string,
  entry: ServerEntry,
  launch: GuardLaunch,
  { set, rename }: MemberEdits,
): void {
  const { url, type, headers, env } = entry;
  const given = Object.entries(asObject(headers)).map(([header, value], index) => ({
    header,
    value,
    variable: `TOOLKEEL_HEADER_${index + 1}`,
  }));
  const flags = given.flatMap(({ header, variable }) => ['--header-env', `${header}=${variable}`]);
  const isPublic = isPlainAddress(String(url));
  const address = isPublic ? ['--url', String(url)] : ['--url-env', URL_VARIABLE];
  const { command, args } = launch(['--name', name, ...address, ...flags]);
  if ('command' in entry) set([...path, 'command'], undefined);
  rename([...path, 'url'], 'command');
  set([...path, 'command'], command);
  if (type !== undefined) set([...path, 'type'], 'stdio');
  set([...path, 'args'], args);
  if (env !== undefined && !isObject(env)) set([...path, 'env'], undefined);
  if (isObject(headers) && !isObject(env)) {
    rename([...path, 'headers'], 'env');
    for (const { header, variable } of given) rename([...path, 'env', header], variable);
  } else {
    if (headers !== undefined) set([...path, 'headers'], undefined);
    for (const { variable, value } of given) set([...path, 'env', variable], value);
  }
  if (!isPublic) set([...path, 'env', URL_VARIABLE], url);
}

const URL_VARIABLE = 'TOOLKEEL_URL';

/** Whether an address holds nothing that may be a credential: arguments are public. */
export function isPlainAddress(url: string): boolean {
  const { username, password, search, hash, pathname } = new URL(url);
  if (`${username}${password}${search}${hash}` !== '' || url.includes('${')) return false;
  return pathname.split('/').every((part) => part.length < 16);
}

/** The current document with the named servers as they are in the other one. */
export function restoreServers(current: string, original: string, paths: readonly JSONPath[]) {
  let text = current;
  for (const path of paths) {
    const before = nodeText(original, path);
    const node = jsonc.findNodeAtLocation(parseTree(text), [...path]);
    if (node) text = text.slice(0, node.offset) + before + text.slice(node.offset + node.length);
  }
  return text;
}

export interface ServerEntry {
  readonly command?: unknown;
  readonly args?: unknown;
  readonly url?: unknown;
  readonly type?: unknown;
  readonly headers?: unknown;
  readonly env?: unknown;
}

interface Server {
  readonly path: JSONPath;
  readonly name: string;
  readonly entry: ServerEntry;
}

/** The servers of a document in the shape of any client. */
export function serversOf(text: string): readonly Server[] {
  return serversIn(jsonc.getNodeValue(parseTree(text)));
}

function serversIn(document: unknown): readonly Server[] {
  const at = (path: readonly string[]): unknown =>
    path.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), document);
  const projects = Object.keys(asObject(at(['projects'])));
  const containers = [
    ['mcpServers'],
    ['servers'],
    ['mcp', 'servers'],
    ...projects.map((project) => ['projects', project, 'mcpServers']),
  ];
  const taken = new Set<string>();
  return containers.flatMap((path) =>
    Object.entries(asObject(at(path))).flatMap(([key, entry]) => {
      if (!isObject(entry)) return [];
      // Two projects may call different servers the same; the name is the account of their operations.
      const name = taken.has(key) ? named(key, path) : key;
      taken.add(name);
      return [{ path: [...path, key], name, entry }];
    }),
  );
}

/** The entries of the servers in a document; in an invalid one as far as it is read. */
export function nodesOf(text: string): readonly Node[] {
  const tree = jsonc.parseTree(withoutMark(text), [], { allowTrailingComma: true });
  if (!tree) return [];
  return serversIn(jsonc.getNodeValue(tree)).flatMap(
    ({ path }) => jsonc.findNodeAtLocation(tree, [...path]) ?? [],
  );
}

/** What the client itself would refuse: it is not known what to start. */
function mistakeIn({ command, args = [] }: ServerEntry): string | undefined {
  if (typeof command !== 'string') return undefined;
  if (command.trim() === '') return 'has an empty command';
  const isList = Array.isArray(args) && args.every((word) => typeof word === 'string');
  return isList ? undefined : 'has "args" that are not a list of strings';
}

/** Why a server cannot be guarded; undefined if it can. */
export function reasonToSkip({ command, args, url, type, headers }: ServerEntry, own: string) {
  if (typeof command === 'string') {
    return isGuarded([command, ...(Array.isArray(args) ? (args as unknown[]) : [])], own)
      ? 'is guarded already'
      : undefined;
  }
  if (typeof url !== 'string' || !URL.canParse(url)) return 'has neither a command nor a URL';
  if (type === 'sse') return 'uses the transport SSE, which the guard does not support';
  const hasCredential = Object.keys(asObject(headers)).length > 0;
  if (hasCredential || isLoopback(url)) return undefined;
  return 'is remote and has no headers, so the client may have to sign in to it';
}

/** The entry of a server without the guard in front of it; undefined if it has none. */
export function withoutGuard(entry: ServerEntry, own: string): ServerEntry | undefined {
  const { command, args, ...rest } = entry;
  const words = [command, ...(Array.isArray(args) ? (args as unknown[]) : [])];
  if (!isGuarded(words, own)) return undefined;
  const given = words.slice(words.indexOf('guard') + 1).map(String);
  const end = given.indexOf('--');
  const flags = end < 0 ? given : given.slice(0, end);
  const valuesOf = (flag: string): string[] =>
    flags.flatMap((word, index) => (word === flag ? (flags[index + 1] ?? []) : []));
  const [program, ...others] = end < 0 ? [] : given.slice(end + 1);
  if (program !== undefined) return { ...rest, command: program, args: others };
  const headers = valuesOf('--header-env').map((text) => {
    const [, header = '', variable] = /^([^=]+)=(.*)$/.exec(text) ?? [];
    return [header, { env: variable }] as const;
  });
  const { type: _type, ...server } = rest;
  const [variable] = valuesOf('--url-env');
  const url = variable === undefined ? valuesOf('--url')[0] : asObject(rest.env)[variable];
  return { ...server, url, headers: Object.fromEntries(headers) };
}

function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
}

/** The program by its name, and the script of any installation: a guard is no server to guard. */
const PROGRAM =
  /(^|[\\/])(toolkeel(@[^\\/]*|\.cmd|\.exe)?|(toolkeel|packages[\\/]cli)[\\/]dist[\\/]bin\.js)$/;

function isGuarded(words: readonly unknown[], own: string): boolean {
  const at = words.indexOf('guard');
  const program = at > 0 ? words[at - 1] : undefined;
  if (typeof program !== 'string') return false;
  return program === own || PROGRAM.test(program);
}

/** Runs a reader of a client's file, with a message that names the file. */
export function parsed<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new UsageError(`${file} cannot be read: ${cause.message}. It was not changed.`);
  }
}

/** The value of JSON with comments; of an invalid text as far as it is read. */
export function parseJsonc(text: string): unknown {
  return jsonc.parse(withoutMark(text), [], { allowTrailingComma: true });
}

/** Throws an error with the line if the text is no JSON with comments. */
function parseTree(text: string): Node {
  const errors: ParseError[] = [];
  const tree = jsonc.parseTree(withoutMark(text), errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error) {
    const line = text.slice(0, error.offset).split('\n').length;
    throw new SyntaxError(`line ${line}: ${jsonc.printParseErrorCode(error.error)}`);
  }
  if (tree?.type !== 'object') throw new SyntaxError('it is not an object');
  const repeated = repeatedMember(tree, (name) => CONTAINERS.has(name));
  if (repeated) {
    const line = text.slice(0, repeated.offset).split('\n').length;
    // The client uses the last one, and an edit would change the first.
    throw new SyntaxError(`line ${line}: ${JSON.stringify(repeated.value)} is there twice`);
  }
  return tree;
}

const CONTAINERS: ReadonlySet<string> = new Set(['mcpServers', 'servers', 'mcp', 'projects']);

/** The name of a member that an object has twice, in the named members of the document. */
function repeatedMember(node: Node, isSearched: (name: string) => boolean): Node | undefined {
  const names = new Set<string>();
  for (const child of node.children ?? []) {
    const [name, value] = node.type === 'object' ? (child.children ?? []) : [undefined, child];
    const text = String(name?.value);
    if (name && !isSearched(text)) continue;
    if (name && names.has(text)) return name;
    names.add(text);
    const found = value && repeatedMember(value, () => true);
    if (found) return found;
  }
  return undefined;
}

function nodeText(text: string, path: JSONPath): string {
  const node = jsonc.findNodeAtLocation(parseTree(text), [...path]);
  return node ? text.slice(node.offset, node.offset + node.length) : '{}';
}

function formatOf(text: string): { insertSpaces: boolean; tabSize: number; eol: string } {
  const indent = /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
  return {
    insertSpaces: !indent.startsWith('\t'),
    tabSize: indent.startsWith('\t') ? 1 : indent.length,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  };
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
