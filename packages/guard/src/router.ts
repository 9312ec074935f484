import { Branch, type Members } from './branch.js';
import type { Catalog } from './catalog.js';
import { objectIn } from './frame.js';

export type Answered = { readonly result: Members } | { readonly error: RpcFailure };
interface RpcFailure {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** The upstream of a request, or the answer to it. Undefined: the answer follows. */
export type Target = Branch | Answered | undefined;

const READ_MS = 60_000;

/** Finds the upstream of a request that is for one of several. */
export class Router {
  readonly #catalog: Catalog;

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
  }

  route(method: string, params: Members, hasSessions: boolean): Target | Promise<Target> {
    if (method === 'tools/call') return this.#byName('tools/list', 'tool', params['name']);
    if (method === 'prompts/get') return this.#byName('prompts/list', 'prompt', params['name']);
    if (method === 'resources/read') return this.#inTurn(method, params, params['uri']);
    if (method === 'completion/complete') {
      const { type, name, uri } = objectIn(params, 'ref');
      if (type === 'ref/prompt') return this.#byName('prompts/list', 'prompt', name);
      return this.#inTurn(method, params, uri);
    }
    const isSubscription = method === 'resources/subscribe' || method === 'resources/unsubscribe';
    if (hasSessions && isSubscription) return this.#fromAll(method, params, params['uri']);
    return { error: { code: -32_601, message: 'Method not found' } };
  }

  #byName(
    list: 'tools/list' | 'prompts/list',
    kind: string,
    name: unknown,
  ): Target | Promise<Target> {
    if (typeof name !== 'string') return missing('name');
    const decide = (owner: Branch | 'conflict' | undefined): Target => {
      if (owner instanceof Branch) return owner;
      const message = owner
        ? `Two upstreams have the ${kind} "${name}", so neither is called. Set a "prefix" for one of them.`
        : `Unknown ${kind}: ${name}`;
      return { error: { code: -32_602, message } };
    };
    const owner = this.#catalog.ownerOf(list, name);
    return owner instanceof Promise ? owner.then(decide) : decide(owner);
  }

  /** URIs have no prefix. Upstreams that may have one are asked in turn. */
  async #inTurn(method: string, params: Members, uri: unknown): Promise<Target> {
    if (typeof uri !== 'string') return missing('uri');
    const candidates = await this.#catalog.candidatesFor(uri);
    const [first, ...others] = candidates;
    if (first && others.length === 0) return first;
    let error = notFound(uri);
    for (const branch of candidates) {
      const answered = await branch.ask(method, params, READ_MS);
      if (answered?.result) return { result: answered.result };
      error = answered?.error ?? error;
    }
    return { error };
  }

  /** Many servers accept a subscription to any URI: the first to accept it need not have the resource. */
  async #fromAll(method: string, params: Members, uri: unknown): Promise<Target> {
    if (typeof uri !== 'string') return missing('uri');
    const candidates = await this.#catalog.candidatesFor(uri);
    const [first, ...others] = candidates;
    if (first && others.length === 0) return first;
    const answers = await Promise.all(
      candidates.map((branch) => branch.ask(method, params, READ_MS)),
    );
    const accepted = answers.find((answered) => answered?.result);
    if (accepted?.result) return { result: accepted.result };
    return { error: answers.find((answered) => answered?.error)?.error ?? notFound(uri) };
  }
}

function missing(member: string): Answered {
  return { error: { code: -32_602, message: `Invalid params: ${member} is missing` } };
}

function notFound(uri: string): RpcFailure {
  return { code: -32_002, message: 'Resource not found', data: { uri } };
}
