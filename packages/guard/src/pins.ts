import { registerCodes, toolError } from '@toolkeel/contract';
import type { HostLog } from '@toolkeel/host';
import type { ListedTool } from './effects.js';
import {
  changedMembers,
  definitionOf,
  pinState,
  readPins,
  writePins,
  type PinnedTool,
  type PinnedTools,
  type PinState,
  withDefinition,
} from './pin-store.js';

interface PinOptions {
  readonly upstream: string;
  /** Where its tools were pinned before: what was seen first stays what applies. */
  readonly formerNames?: readonly string[];
  /** Undefined: the pins are kept as long as the process lives. */
  readonly dataDir: string | undefined;
  /** Whether calls of tools that changed are refused. */
  readonly blocks: boolean;
  /** Whether nothing is written, because the server is only inspected. */
  readonly isReadOnly: boolean;
  /** Redacts secrets: nothing of them is kept, and another secret is no change of a tool. */
  readonly scrub: (text: string) => string;
  readonly log: HostLog;
  /** An operator accepted a change. */
  readonly onAccepted: () => void;
}

/** What the contract cannot say. */
export const ownCodes = {
  tool_changed: {
    retryable: false,
    category: 'Guard',
    description: 'The server changed the tool, and no operator has accepted the change yet',
    outcome: 'not_executed',
    class: 'governance',
  },
} as const;

const { tool_changed: TOOL_CHANGED } = registerCodes('guard', ownCodes);

const WHAT: Readonly<Record<PinState, string>> = Object.freeze({
  pinned: 'was changed',
  changed: 'was changed',
  added: 'is new',
  removed: 'is not listed any more',
});

/**
 * The entry of the server's profile, which decides on effects like the tools do: a server that calls itself
 * something else must not loosen them.
 */
const PROFILE = '(profile)';
/** No profile applies to the server. */
export const NO_PROFILE = 'none';

interface Changes {
  readonly changed: string[];
  readonly added: string[];
  readonly removed: string[];
  readonly returned: string[];
}

/**
 * Compares what a server lists with what it listed when its tools were first seen or last accepted. A
 * server that an agent trusts may later describe its tools differently, to be used differently.
 */
export class Pins {
  readonly #options: PinOptions;
  #tools: PinnedTools | undefined;
  #profile = NO_PROFILE;

  constructor(options: PinOptions) {
    this.#options = options;
  }

  /** Whether calls of tools that changed are refused. */
  get blocks(): boolean {
    return this.#options.blocks;
  }

  /** The profile that applies to the server now. */
  identify(profile: string): void {
    this.#profile = profile;
  }

  /** The profile that applied when the tools were pinned; undefined if nothing is pinned. */
  get profile(): string | undefined {
    this.#tools ??= this.#read();
    if (!this.#tools) return undefined;
    const pinned = this.#entry(PROFILE)?.pinned?.description;
    return typeof pinned === 'string' ? pinned : NO_PROFILE;
  }

  /** Compares a listing. A part of one says nothing about the tools that it lacks. */
  compare(listed: readonly ListedTool[], isComplete: boolean): void {
    const { upstream, log, blocks } = this.#options;
    const known = this.#read();
    if (!known && !isComplete) return;
    const now = new Date().toISOString();
    const changes: Changes = { changed: [], added: [], removed: [], returned: [] };
    const entries = new Map<string, PinnedTool>(Object.entries(known ?? {}));
    const tools = this.#redacted(listed.filter(({ name }) => name !== PROFILE));
    const before = entries.get(PROFILE);
    if (before ?? this.#profile !== NO_PROFILE) {
      const profile = { name: PROFILE, description: this.#profile };
      const none = known && { pinned: { description: NO_PROFILE }, pinnedAt: now };
      entries.set(PROFILE, compared(profile, before ?? none, true, now, changes));
    }
    for (const tool of tools) {
      const entry = entries.get(tool.name);
      const isTrusted = !known || (!entry && !blocks);
      if (!entry && known) changes.added.push(tool.name);
      entries.set(tool.name, compared(tool, entry, isTrusted, now, changes));
    }
    const names = new Set([PROFILE, ...tools.map(({ name }) => name)]);
    for (const [name, entry] of isComplete ? entries : []) {
      if (names.has(name)) continue;
      if (!entry.pinned) entries.delete(name);
      else if (entry.seen !== null) {
        changes.removed.push(name);
        entries.set(name, { ...entry, seen: null, seenAt: now });
      }
    }
    const all = Object.fromEntries(entries);
    this.#tools = all;
    if (!known) log('info', 'guard_tools_pinned', { upstream, tools: listed.length });
    const { changed, added, removed, returned } = changes;
    const isReported = [changed, added, removed, returned].some((list) => list.length > 0);
    if (isReported) {
      const isChange = changed.length + added.length > 0;
      const message = `The tools of ${upstream} are not those that were pinned. ${blocks ? 'Calls of changed and added tools are refused. ' : ''}Show the difference with "toolkeel pins diff ${upstream}".`;
      log(isChange ? 'warn' : 'info', 'guard_tools_changed', { upstream, ...changes, message });
    }
    if (!known || JSON.stringify(known) !== JSON.stringify(all)) this.#write(all);
  }

  /** The tool as it was pinned, if the server lists it differently now. */
  pinned(name: string): ListedTool | undefined {
    const entry = this.#entry(name);
    if (!entry?.pinned || !entry.seen) return undefined;
    return { ...(entry.pinned as Partial<ListedTool>), name };
  }

  /**
   * A listing as its client may see it: tools that wait for an operator are listed as they were pinned, new
   * ones not at all, because descriptions and schemas are instructions to a model. The same array if nothing
   * waits.
   */
  shown(listed: readonly ListedTool[]): readonly ListedTool[] {
    // A client may ask before the guard has compared anything: the file decides.
    const known = this.#read();
    if (!this.#options.blocks || !known) return listed;
    this.#tools ??= known;
    const tools = listed.flatMap((tool) => {
      const pinned = Object.hasOwn(known, tool.name) ? known[tool.name]?.pinned : undefined;
      if (!pinned) return [];
      const seen = definitionOf(this.#redacted(tool));
      return changedMembers(pinned, seen).length === 0 ? [tool] : [withDefinition(tool, pinned)];
    });
    const isSame =
      tools.length === listed.length && tools.every((tool, index) => tool === listed[index]);
    return isSame ? listed : tools;
  }

  /** The error of a call that has to wait for an operator. */
  refusal(name: string) {
    const { blocks, upstream, onAccepted } = this.#options;
    if (!blocks || this.#isAccepted(name)) return undefined;
    // Only refused calls pay for a look at the file.
    this.#tools = this.#read() ?? this.#tools;
    if (this.#isAccepted(name)) {
      onAccepted();
      return undefined;
    }
    const entry = this.#entry(name);
    const what = entry ? WHAT[pinState(entry)] : 'is not listed';
    return toolError(
      TOOL_CHANGED,
      `The tool ${name} ${what}, and no operator has accepted that. An operator can show the difference with "toolkeel pins diff ${upstream}" and accept it with "toolkeel pins accept ${upstream}".`,
      { outcome: 'not_executed' },
    );
  }

  #redacted<T>(value: T): T {
    const text = JSON.stringify(value);
    const redacted = this.#options.scrub(text);
    return redacted === text ? value : (JSON.parse(redacted) as T);
  }

  #isAccepted(name: string): boolean {
    const entry = this.#entry(name);
    return entry?.pinned !== undefined && entry.seen === undefined;
  }

  #entry(name: string): PinnedTool | undefined {
    return this.#tools && Object.hasOwn(this.#tools, name) ? this.#tools[name] : undefined;
  }

  #read(): PinnedTools | undefined {
    const { dataDir, upstream, formerNames = [], log } = this.#options;
    if (dataDir === undefined) return this.#tools;
    try {
      for (const name of [upstream, ...formerNames]) {
        const found = readPins(dataDir, name);
        if (!found) continue;
        const known = this.#redacted(found);
        // Written before the secret was one, or by an earlier version.
        if (known !== found) this.#write(known);
        return known;
      }
      return this.#tools;
    } catch (cause) {
      log('error', 'guard_pins_failed', { upstream, cause });
      // Nothing is known to be accepted.
      return this.#tools ?? {};
    }
  }

  #write(tools: PinnedTools): void {
    const { dataDir, upstream, isReadOnly, log } = this.#options;
    if (dataDir === undefined || isReadOnly) return;
    try {
      writePins(dataDir, upstream, tools);
    } catch (cause) {
      log('error', 'guard_pins_failed', { upstream, cause });
    }
  }
}

function compared(
  tool: ListedTool,
  entry: PinnedTool | undefined,
  isTrusted: boolean,
  now: string,
  { changed, returned }: Changes,
): PinnedTool {
  const seen = definitionOf(tool);
  if (!entry) return isTrusted ? { pinned: seen, pinnedAt: now } : { seen, seenAt: now };
  const { pinned, pinnedAt = now } = entry;
  if (!pinned) return { seen, seenAt: entry.seenAt ?? now };
  const members = changedMembers(pinned, seen);
  if (members.length === 0) {
    // It was removed or changed before.
    if (entry.seen !== undefined) returned.push(tool.name);
    return { pinned, pinnedAt };
  }
  changed.push(`${tool.name}: ${members.join(', ')}`);
  const isSame = entry.seen && changedMembers(entry.seen, seen).length === 0;
  return isSame ? entry : { pinned, pinnedAt, seen, seenAt: now };
}
