import { listTool, type Profile, type Tool, type ToolSpec } from '@toolkeel/contract';
import type { Tool as McpTool } from '@modelcontextprotocol/server';
import type { Callable } from '../call/callable.js';
import { HostError } from '../errors.js';
import type { RawTool } from '../mcp/raw.js';
import { specProblem, type LoadedPack } from './loaded-pack.js';

/** Whether a profile contains a tool. The check of `mutation` is a second line of defence. */
export function admits(profile: Profile): (spec: ToolSpec) => boolean {
  return (spec) => spec.profiles.includes(profile) && !(profile === 'readonly' && spec.mutation);
}

/** The tools of a host by name. */
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

  /** The result of `tools/list`, in the order of registration. Built once, because of the schemas. */
  get listing(): readonly McpTool[] {
    this.#listing ??= [
      ...[...this.#entries.values()].map(({ spec }) => listTool(spec) as McpTool),
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

  addPack(
    pack: LoadedPack,
    timeoutOf: (spec: ToolSpec) => number,
    prepare: <T extends ToolSpec>(tool: T) => T,
  ): void {
    for (const spec of pack.specs) {
      const prepareOnce = memoizeLast(prepare<Tool>);
      const load = (): Tool | Promise<Tool> => {
        const tool = pack.tool(spec.name);
        return tool instanceof Promise ? tool.then(prepareOnce) : prepareOnce(tool);
      };
      const timeoutMs = timeoutOf(spec);
      this.#add({ spec: prepare(spec), timeoutMs, reportsEvents: true, load });
    }
  }

  /** The only information on the effect of a raw tool is its `readOnlyHint`. */
  addRaw(tool: RawTool): void {
    const isRead = tool.definition.annotations?.readOnlyHint === true;
    if (this.#profile === 'readonly' && !isRead) return;
    this.#requireUnique(tool.definition.name);
    this.#raw.set(tool.definition.name, tool);
    this.#listing = undefined;
  }

  #add(entry: Callable): void {
    const problem = specProblem(entry.spec);
    if (problem !== undefined) throw new HostError(problem);
    this.#requireUnique(entry.spec.name);
    this.#entries.set(entry.spec.name, entry);
    this.#listing = undefined;
  }

  #requireUnique(name: string): void {
    if (this.#entries.has(name) || this.#raw.has(name)) {
      throw new HostError(`two tools are called ${name}: rename or remove one of them`);
    }
  }
}

/** Remembers the result for the most recent argument. */
function memoizeLast<T>(compute: (argument: T) => T): (argument: T) => T {
  let last: { readonly argument: T; readonly result: T } | undefined;
  return (argument) => {
    if (last?.argument !== argument) last = { argument, result: compute(argument) };
    return last.result;
  };
}
