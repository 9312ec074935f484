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

export const TOOLS_CHANGED = frameOf({
  jsonrpc: '2.0',
  method: 'notifications/tools/list_changed',
});

/** Fetches the tools of an upstream, also for a client that never asks for them. */
export class Listing {
  readonly #options: ListingOptions;
  #fetching: Promise<void> | undefined;
  /** The tools as JSON, to notice that they have changed. */
  #text = '';
  isDone = false;

  constructor(options: ListingOptions) {
    this.#options = options;
  }

  /** Resolves when the tools are known, or cannot be known. */
  fetch(again = false): Promise<void> {
    if (again) this.#fetching = undefined;
    if (this.#fetching) return this.#fetching;
    const fetching = this.#fetchAll().finally(() => {
      // A server that could not be asked is asked again by the next call.
      if (!this.isDone && this.#fetching === fetching) this.#fetching = undefined;
    });
    this.#fetching = fetching;
    // Callers that need the tools handle it.
    fetching.catch(() => {});
    return fetching;
  }

  /** Resolves when the tools are known, or cannot be known. Undefined: they are. */
  known(): Promise<void> | undefined {
    return this.isDone ? undefined : this.fetch();
  }

  /** After a restart: the server may have other tools, and does not know that it has to say so. */
  repeat(): void {
    const before = this.#text;
    this.fetch(true).then(
      () => {
        if (this.#text !== before) this.#options.onChanged();
      },
      () => {},
    );
  }

  /** A listing that was in flight is lost with its upstream. */
  lose(): void {
    this.#fetching = undefined;
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
