import type { Profile, Tool, ToolSpec } from '@toolkeel/contract';
import type { Tool as McpTool } from '@modelcontextprotocol/server';
import { HostError } from '../errors.js';
import type { Callable } from '../call/callable.js';
import type { RawTool } from '../mcp/raw.js';
import type { LoadedPack } from './loaded-pack.js';
import { toolListing } from './tool-listing.js';

/** Whether a profile contains a tool. The second half cannot be false, and is asked all the same. */
export function admits(profile: Profile): (spec: ToolSpec) => boolean {
  return (spec) => spec.profiles.includes(profile) && !(profile === 'readonly' && spec.mutation);
}

/** The tools of a host, by name. */
export class ToolTable {
  readonly #entries = new Map<string, Callable>();
  readonly #raw = new Map<string, RawTool>();
  readonly #profile: Profile;
  #listing: readonly McpTool[] | undefined;

  constructor(profile: Profile) {
    this.#profile = profile;
  }

  get names(): Iterable<string> {
    return [...this.#entries.keys(), ...this.#raw.keys()];
  }

  get specs(): readonly ToolSpec[] {
    return [...this.#entries.values()].map(({ spec }) => spec);
  }

  /** In the order of registration, so that it is the same for every request. */
  get listing(): readonly McpTool[] {
    this.#listing ??= [
      ...[...this.#entries.values()].map(({ spec }) => toolListing(spec, this.#profile)),
      ...[...this.#raw.values()].map(({ definition }) => definition),
    ];
    return this.#listing;
  }

  entry(name: string): Callable | undefined {
    return this.#entries.get(name);
  }

  raw(name: string): RawTool | undefined {
    return this.#raw.get(name);
  }

  addTool(tool: Tool, timeoutMs: number): void {
    if (!admits(this.#profile)(tool)) return;
    this.#add({ spec: tool, timeoutMs, reportsEvents: false, load: () => tool });
  }

  addPack(pack: LoadedPack, timeoutMs: number, prepare: <T extends ToolSpec>(tool: T) => T): void {
    for (const spec of pack.specs) {
      const prepared = once(prepare<Tool>);
      const load = (): Tool | Promise<Tool> => {
        const tool = pack.tool(spec.name);
        return tool instanceof Promise ? tool.then(prepared) : prepared(tool);
      };
      this.#add({ spec: prepare(spec), timeoutMs, reportsEvents: true, load });
    }
  }

  /** A raw tool says nothing of its effect but what its annotations say, so `readonly` believes only them. */
  addRaw(tool: RawTool): void {
    const isRead = tool.definition.annotations?.readOnlyHint === true;
    if (this.#profile === 'readonly' && !isRead) return;
    this.#refuseSecond(tool.definition.name);
    this.#raw.set(tool.definition.name, tool);
    this.#listing = undefined;
  }

  #add(entry: Callable): void {
    this.#refuseSecond(entry.spec.name);
    this.#entries.set(entry.spec.name, entry);
    this.#listing = undefined;
  }

  #refuseSecond(name: string): void {
    if (this.#entries.has(name) || this.#raw.has(name)) {
      throw new HostError(`two tools are called ${name}`);
    }
  }
}

/** A function that remembers what it made of the last thing it was given. */
function once<T>(make: (given: T) => T): (given: T) => T {
  let last: { readonly given: T; readonly made: T } | undefined;
  return (given) => {
    if (last?.given !== given) last = { given, made: make(given) };
    return last.made;
  };
}
