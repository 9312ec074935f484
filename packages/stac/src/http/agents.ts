import type { Agent, request } from 'undici';
import { checkedLookup, lookupWith, type Resolve } from '../reach/lookup.js';
import type { IsAllowed } from '../reach/target.js';

export interface Agents {
  readonly request: typeof request;
  /** For origins that the operator named. */
  readonly trusted: Agent;
  /** For all others: connects to public addresses only. */
  readonly open: Agent;
}

export interface AgentOptions {
  readonly resolve: Resolve;
  readonly isAllowed: IsAllowed;
  readonly connectTimeoutMs: number;
}

/** Connections of each kind, made when first asked for: undici takes a while to load. */
export class AgentPool {
  readonly #options: AgentOptions;
  #agents: Promise<Agents> | undefined;

  constructor(options: AgentOptions) {
    this.#options = options;
  }

  get(): Promise<Agents> {
    return (this.#agents ??= load(this.#options));
  }

  /** Ends what is under way as well: whoever closes has waited for it already. */
  async close(): Promise<void> {
    const agents = await this.#agents?.catch(() => undefined);
    await Promise.all([agents?.trusted.destroy(), agents?.open.destroy()]);
  }
}

async function load(options: AgentOptions): Promise<Agents> {
  const { Agent: AgentClass, request: send } = await import('undici');
  const { resolve, isAllowed, connectTimeoutMs: timeout } = options;
  // The kernel's clocks bound every attempt; undici's own would cut one that was given longer.
  const common = { connections: 32, headersTimeout: 0, bodyTimeout: 0 };
  return {
    request: send,
    trusted: new AgentClass({ ...common, connect: { timeout, lookup: lookupWith(resolve) } }),
    open: new AgentClass({
      ...common,
      connect: { timeout, lookup: checkedLookup(resolve, isAllowed) },
    }),
  };
}
