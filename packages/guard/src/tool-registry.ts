import type { ListedTool } from './effects.js';
import type { Pins } from './pins.js';
import type { GuardedTool } from './tools.js';

interface ToolRegistryOptions {
  readonly guard: (listed: ListedTool) => GuardedTool;
  /** All tools are known, or have changed. Resolves when the rules apply to them. */
  readonly onTools: (tools: readonly GuardedTool[]) => Promise<void>;
  /** What the server listed before. Undefined: it is not compared. */
  readonly pins?: Pins | undefined;
}

/** Names that clients call without finding them in a listing. */
const MAX_UNLISTED = 100;

/** The tools of an upstream, as it lists them and as clients call them. */
export class ToolRegistry {
  readonly #options: ToolRegistryOptions;
  readonly #tools = new Map<string, GuardedTool>();
  readonly #unlisted = new Set<string>();
  #isComplete = false;
  /** Resolves when the rules apply to the tools that are known. */
  #ruled: Promise<void> = Promise.resolve();

  constructor(options: ToolRegistryOptions) {
    this.#options = options;
  }

  /** Whether the complete listing was seen. Before that no mutation is allowed. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  get tools(): readonly GuardedTool[] {
    return [...this.#tools.values()];
  }

  get(name: string): GuardedTool | undefined {
    return this.#tools.get(name);
  }

  /** Takes over a page of a listing that a client requested. */
  learn(listed: readonly ListedTool[]): void {
    const changed = listed.filter((tool) => !isSame(this.#tools.get(tool.name)?.listed, tool));
    // The rules can be checked only against all tools; the guard's own listing is on its way.
    if (changed.length === 0 || !this.#isComplete) return;
    const { pins, guard } = this.#options;
    pins?.compare(changed, false);
    for (const tool of changed) this.#tools.set(tool.name, guard(tool));
    void this.#rule();
  }

  /** Takes over the complete listing. */
  async replace(listed: readonly ListedTool[]): Promise<void> {
    for (const { name } of listed) this.#unlisted.delete(name);
    const isUnchanged =
      listed.length === this.#tools.size - this.#unlisted.size &&
      listed.every((tool) => isSame(this.#tools.get(tool.name)?.listed, tool));
    // Another listing may be the reason, whose rules are still compiled.
    if (isUnchanged && listed.length > 0) return this.#ruled;
    this.#tools.clear();
    this.#unlisted.clear();
    const { pins, guard } = this.#options;
    pins?.compare(listed, true);
    for (const tool of listed) this.#tools.set(tool.name, guard(tool));
    this.#isComplete = true;
    await this.#rule();
  }

  /** Other settings apply to the tools that are known: an operator accepted a change, or a profile applies. */
  refresh(): void {
    if (!this.#isComplete) return;
    for (const { listed } of this.tools) this.#tools.set(listed.name, this.#options.guard(listed));
    void this.#rule();
  }

  /** A tool that is not listed may do anything; the server decides whether it exists. */
  async addUnlisted(name: string): Promise<GuardedTool> {
    const guarded = this.#options.guard({ name });
    this.#unlisted.add(name);
    this.#tools.set(name, guarded);
    for (const oldest of this.#unlisted) {
      if (this.#unlisted.size <= MAX_UNLISTED) break;
      this.#unlisted.delete(oldest);
      this.#tools.delete(oldest);
    }
    await this.#rule();
    return guarded;
  }

  /** Applies the rules to the current tools, in the order of the listings. */
  #rule(): Promise<void> {
    this.#ruled = this.#ruled.then(() => this.#options.onTools(this.tools));
    return this.#ruled;
  }
}

function isSame(one: ListedTool | undefined, other: ListedTool): boolean {
  return one !== undefined && JSON.stringify(one) === JSON.stringify(other);
}
