import type { ListedTool } from './effects.js';
import { frameOf, isObject, type Message } from './frame.js';

interface ListingOptions {
  /** Makes a request of the guard's own. Undefined: no answer. */
  readonly ask: (
    method: string,
    params: Readonly<Record<string, unknown>>,
  ) => Promise<{ readonly message: Message } | undefined>;
  /** Resolves after the handshake: whether the server has tools. */
  readonly hasTools: () => Promise<boolean>;
  readonly onTools: (tools: readonly ListedTool[]) => Promise<void>;
  /** The tools have changed with a restart. */
  readonly onChanged: () => void;
}

const MAX_PAGES = 100;
/** Between listings while a server keeps reporting changes: doubles each time. */
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 30_000;
/** The delay is forgotten if nothing changes for this time, and twice the delay. */
const CALM_MS = 1000;
const MAX_NOTICES = 100;

export const TOOLS_CHANGED = frameOf({
  jsonrpc: '2.0',
  method: 'notifications/tools/list_changed',
});

/** Fetches the tools of an upstream, also for a client that never asks for them. */
export class Listing {
  readonly #options: ListingOptions;
  #fetching: Promise<void> | undefined;
  /** The listing that is in flight. */
  #running: Promise<void> | undefined;
  /** How the client is told of changes that are not listed yet, by subscription. */
  readonly #changes = new Map<unknown, () => void>();
  #delayMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #calmTimer: NodeJS.Timeout | undefined;
  /** The tools as JSON, to notice that they have changed. */
  #text = '';
  isDone = false;

  constructor(options: ListingOptions) {
    this.#options = options;
  }

  /** Resolves when the tools are known, or cannot be known. */
  fetch(): Promise<void> {
    return this.#fetching ?? this.#start();
  }

  #start(): Promise<void> {
    const fetching = this.#fetchAll().finally(() => {
      // A server that could not be asked is asked again by the next call.
      if (!this.isDone && this.#fetching === fetching) this.#fetching = undefined;
      if (this.#running !== fetching) return;
      this.#running = undefined;
      this.#schedule();
    });
    this.#fetching = this.#running = fetching;
    // Callers that need the tools handle it.
    fetching.catch(() => {});
    return fetching;
  }

  /**
   * The server says that its tools have changed. They are listed again and the client is told: at once
   * after a time without changes, else with a delay that combines them. `subscription`: whose notice it is.
   */
  changed(subscription: unknown, tell: () => void): void {
    if (this.#changes.size < MAX_NOTICES) this.#changes.set(subscription, tell);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#changes.size === 0 || this.#running || this.#timer) return;
    if (this.#delayMs === 0) return this.#listChanges();
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#listChanges();
    }, this.#delayMs).unref();
  }

  #listChanges(): void {
    this.#delayMs = Math.min(Math.max(2 * this.#delayMs, FIRST_DELAY_MS), MAX_DELAY_MS);
    clearTimeout(this.#calmTimer);
    this.#calmTimer = setTimeout(
      () => {
        this.#delayMs = 0;
      },
      2 * this.#delayMs + CALM_MS,
    ).unref();
    const told = [...this.#changes.values()];
    this.#changes.clear();
    void this.#start();
    for (const tell of told) tell();
  }

  /** Resolves when the tools are known, or cannot be known. Undefined: they are. */
  known(): Promise<void> | undefined {
    return this.isDone ? undefined : this.fetch();
  }

  /** After a restart: the server may have other tools, and does not know that it has to say so. */
  repeat(): void {
    const before = this.#text;
    this.#start().then(
      () => {
        if (this.#text !== before) this.#options.onChanged();
      },
      () => {},
    );
  }

  /** A listing that was in flight is lost with its upstream. */
  lose(): void {
    this.#fetching = undefined;
    this.#running = undefined;
    this.#changes.clear();
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #fetchAll(): Promise<void> {
    const { ask, hasTools, onTools } = this.#options;
    if (!(await hasTools())) return;
    const tools: ListedTool[] = [];
    let cursor: unknown;
    for (let page = 0; page < MAX_PAGES; page++) {
      const answered = await ask('tools/list', cursor === undefined ? {} : { cursor });
      const { result } = answered?.message ?? {};
      if (!result) return;
      tools.push(...toolsIn(result));
      cursor = result['nextCursor'];
      if (typeof cursor !== 'string') break;
    }
    await onTools(tools);
    this.#text = JSON.stringify(tools);
    this.isDone = true;
  }
}

export function toolsIn(result: Readonly<Record<string, unknown>>): readonly ListedTool[] {
  const { tools } = result;
  if (!Array.isArray(tools)) return [];
  return (tools as readonly unknown[]).filter(
    (tool): tool is ListedTool & Readonly<Record<string, unknown>> =>
      isObject(tool) && typeof tool['name'] === 'string',
  );
}
