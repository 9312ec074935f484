import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalJson } from '@toolkeel/contract';
import type { ListedTool } from './effects.js';
import { isObject } from './frame.js';

const FOLDER = 'guard-pins';
/** What is pinned of a tool: all that a model or a client acts on. */
const MEMBERS = ['title', 'description', 'inputSchema', 'outputSchema', 'annotations'] as const;

/** The definition of a tool, as a server listed it. */
export type ToolDefinition = { readonly [member in (typeof MEMBERS)[number]]?: unknown };

/** A tool that is pinned, or waits for it. */
export interface PinnedTool {
  /** What applies. Undefined: the tool is new, and no operator has accepted it. */
  readonly pinned?: ToolDefinition;
  readonly pinnedAt?: string;
  /** How the server lists it now, if that differs. Null: it does not. */
  readonly seen?: ToolDefinition | null;
  readonly seenAt?: string;
}

/** The tools of an upstream by name. */
export type PinnedTools = Readonly<Record<string, PinnedTool>>;

export function definitionOf(listed: ListedTool): ToolDefinition {
  const members = MEMBERS.map((name) => [name, (listed as ToolDefinition)[name]] as const);
  return Object.fromEntries(members.filter(([, value]) => value !== undefined));
}

/** The tool with another definition: all that a model or a client acts on is taken from it. */
export function withDefinition(listed: ListedTool, definition: ToolDefinition): ListedTool {
  // Whatever else the server lists (icons, `_meta`) is not pinned, so it has not been reviewed.
  return { ...(definition as Partial<ListedTool>), name: listed.name };
}

/** The members that differ. */
export function changedMembers(before: ToolDefinition, after: ToolDefinition): readonly string[] {
  return MEMBERS.filter((name) => textOf(before[name]) !== textOf(after[name]));
}

/** The order of members does not matter. */
function textOf(value: unknown): string {
  if (value === undefined) return '';
  try {
    return canonicalJson(value);
  } catch {
    return JSON.stringify(value);
  }
}

function fileOf(dataDir: string, upstream: string): string {
  return join(dataDir, FOLDER, `${encodeURIComponent(upstream)}.json`);
}

/** Undefined: nothing is pinned yet. Throws if the file cannot be read: it must not be replaced then. */
export function readPins(dataDir: string, upstream: string): PinnedTools | undefined {
  const file = fileOf(dataDir, upstream);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    if (isObject(cause) && cause['code'] === 'ENOENT') return undefined;
    throw cause;
  }
  const value: unknown = JSON.parse(text);
  if (!isObject(value) || !isObject(value['tools'])) throw new TypeError(`${file} has no tools`);
  return value['tools'] as PinnedTools;
}

export function writePins(dataDir: string, upstream: string, tools: PinnedTools): void {
  const file = fileOf(dataDir, upstream);
  mkdirSync(join(dataDir, FOLDER), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${randomUUID()}.tmp`;
  writeFileSync(temporary, JSON.stringify({ version: 1, upstream, tools }, null, 1), {
    mode: 0o600,
  });
  renameSync(temporary, file);
}

/** The upstreams with pinned tools. */
export function pinnedUpstreams(dataDir: string): readonly string[] {
  try {
    return readdirSync(join(dataDir, FOLDER))
      .filter((name) => name.endsWith('.json'))
      .map((name) => decodeURIComponent(name.slice(0, -'.json'.length)))
      .toSorted();
  } catch {
    return [];
  }
}

export type PinState = 'pinned' | 'changed' | 'added' | 'removed';

export function pinState({ pinned, seen }: PinnedTool): PinState {
  if (!pinned) return 'added';
  if (seen === undefined) return 'pinned';
  return seen ? 'changed' : 'removed';
}

/** Accepts how the server lists these tools now. Returns their names. */
export function acceptPins(
  dataDir: string,
  upstream: string,
  names: readonly string[],
  /** How the operator saw them: a tool that the server has changed again meanwhile is not accepted. */
  reviewed?: PinnedTools,
  now: string = new Date().toISOString(),
): readonly string[] {
  const tools = readPins(dataDir, upstream) ?? {};
  const accepted = names.filter((name) => {
    const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
    if (!tool || pinState(tool) === 'pinned') return false;
    return reviewed === undefined || isSameChange(tool, reviewed[name]);
  });
  const kept = Object.entries(tools).flatMap(([name, tool]): [string, PinnedTool][] => {
    if (!accepted.includes(name)) return [[name, tool]];
    return tool.seen ? [[name, { pinned: tool.seen, pinnedAt: now }]] : [];
  });
  writePins(dataDir, upstream, Object.fromEntries(kept));
  return accepted;
}

function isSameChange(one: PinnedTool, other: PinnedTool | undefined): boolean {
  const text = ({ pinned, seen }: PinnedTool): string => textOf([pinned ?? null, seen ?? null]);
  return other !== undefined && text(one) === text(other);
}
