import type { HostLog } from '@toolkeel/host';
import { Branch, type BranchUpstream, type Members } from './branch.js';
import { Catalog, isListMethod, type ListMethod } from './catalog.js';
import {
  frameOf,
  isRequest,
  isResponse,
  objectIn,
  type Frame,
  type Id,
  type RequestFrame,
} from './frame.js';
import { mergedHandshake, notStarted } from './merged-handshake.js';
import type { Route } from './route.js';
import type { Client } from './session-options.js';
import { UpstreamRequests } from './upstream-requests.js';

interface MultiSessionOptions {
  readonly upstreams: readonly BranchUpstream[];
  readonly client: Client;
  readonly log: HostLog;
  readonly onClosed: () => void;
}

/** Outside of the range that JSON-RPC and MCP reserve. */
const UNAVAILABLE_CODE = 503;
const READ_MS = 60_000;

/** A request of the client: where it was sent, once that is known. */
interface InFlight {
  branch: Branch | undefined;
  readonly token: Id | undefined;
}

type Answered = { readonly result: Members } | { readonly error: RpcFailure };
interface RpcFailure {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/**
 * Routes one client to several upstreams, each with a session of its own. Requests for one upstream pass
 * as they came; lists, the handshake and the log level are for all. An upstream that is slow or dead
 * delays nothing but its own calls.
 */
export class MultiSession implements Route {
  readonly #options: MultiSessionOptions;
  readonly #branches: readonly Branch[];
  readonly #catalog: Catalog;
  readonly #inFlight = new Map<Id, InFlight>();
  readonly #tokens = new Map<Id, Branch>();
  readonly #upstreamRequests = new UpstreamRequests();
  #logLevel: Members | undefined;
  #isStarted = false;
  /** The client has its answer to `initialize`: what becomes ready later is announced. */
  #isOpen = false;

  constructor(options: MultiSessionOptions) {
    this.#options = options;
    const { upstreams, client, log } = options;
    this.#branches = upstreams.map((upstream): Branch => {
      const branch: Branch = new Branch({
        upstream,
        client,
        log,
        onFrame: (frame, written) => this.#fromUpstream(branch, frame, written),
        onReady: () => this.#ready(branch),
      });
      return branch;
    });
    const onLate = (method: ListMethod): void => this.#announce(method);
    this.#catalog = new Catalog({ branches: this.#branches, log, onLate });
  }

  // ---- from the client ----------------------------------------------------------------------

  receive(frame: Frame): void {
    if (isRequest(frame)) return void this.#request(frame);
    if (frame.message.method !== undefined) return this.#notification(frame);
    if (isResponse(frame)) this.#upstreamRequests.answer(frame);
  }

  async #request(frame: RequestFrame): Promise<void> {
    const { id, method, params = {} } = frame.message;
    if (this.#inFlight.has(id)) {
      const error = {
        code: -32_600,
        message: 'Invalid Request: a request with this id is in flight',
      };
      return this.#options.client.send(frameOf({ jsonrpc: '2.0', id, error }));
    }
    const token = objectIn(params, '_meta')['progressToken'];
    const isToken = typeof token === 'string' || typeof token === 'number';
    const inFlight: InFlight = { branch: undefined, token: isToken ? token : undefined };
    this.#inFlight.set(id, inFlight);
    const found = this.#route(frame.message.method, params);
    const target = found instanceof Promise ? await found : found;
    // Cancelled in the meantime.
    if (this.#inFlight.get(id) !== inFlight) return;
    if (!(target instanceof Branch)) return this.#answer(id, target);
    inFlight.branch = target;
    if (inFlight.token !== undefined) this.#tokens.set(inFlight.token, target);
    if (target.receive(frame)) return;
    const message = `The upstream ${target.upstream.name} is not running. Try again later.`;
    this.#answer(id, {
      error: { code: UNAVAILABLE_CODE, message, data: { method, retryable: true } },
    });
  }

  /** The upstream of a request, or the answer to it. */
  #route(method: string, params: Members): Branch | Answered | Promise<Branch | Answered> {
    if (method === 'initialize') return this.#initialize(params);
    if (method === 'ping') return { result: {} };
    if (!this.#isStarted) return { error: notStarted(method, params) };
    if (method === 'tools/call') return this.#byName('tools/list', 'tool', params['name']);
    if (method === 'prompts/get') return this.#byName('prompts/list', 'prompt', params['name']);
    if (isListMethod(method)) return this.#catalog.list(method).then((result) => ({ result }));
    if (method === 'logging/setLevel') return this.#setLevel(params);
    if (method.startsWith('resources/')) return this.#byUri(method, params, params['uri']);
    if (method === 'completion/complete') {
      const { type, name, uri } = objectIn(params, 'ref');
      if (type === 'ref/prompt') return this.#byName('prompts/list', 'prompt', name);
      return this.#byUri(method, params, uri);
    }
    return { error: { code: -32_601, message: 'Method not found' } };
  }

  #byName(
    list: 'tools/list' | 'prompts/list',
    kind: string,
    name: unknown,
  ): Branch | Answered | Promise<Branch | Answered> {
    if (typeof name !== 'string') {
      return { error: { code: -32_602, message: 'Invalid params: name is missing' } };
    }
    const decide = (owner: Branch | 'conflict' | undefined): Branch | Answered => {
      if (owner instanceof Branch) return owner;
      const message = owner
        ? `Two upstreams have the ${kind} "${name}", so neither is called. Set a "prefix" for one of them.`
        : `Unknown ${kind}: ${name}`;
      return { error: { code: -32_602, message } };
    };
    const owner = this.#catalog.ownerOf(list, name);
    return owner instanceof Promise ? owner.then(decide) : decide(owner);
  }

  /** URIs have no prefix. If no upstream has listed it, all that have resources are asked in turn. */
  async #byUri(method: string, params: Members, uri: unknown): Promise<Branch | Answered> {
    const candidates = await this.#catalog.candidatesFor(String(uri));
    const [first, ...others] = candidates;
    if (first && others.length === 0) return first;
    let error: RpcFailure = { code: -32_002, message: 'Resource not found', data: { uri } };
    for (const branch of candidates) {
      const answered = await branch.ask(method, params, READ_MS);
      if (answered?.result) return { result: answered.result };
      error = answered?.error ?? error;
    }
    return { error };
  }

  async #initialize(params: Members): Promise<Answered> {
    if (this.#isStarted) {
      return { error: { code: -32_600, message: 'Invalid Request: initialized already' } };
    }
    this.#isStarted = true;
    await Promise.all(this.#branches.map((branch) => branch.start(params)));
    this.#isOpen = true;
    return { result: mergedHandshake(params, this.#branches) };
  }

  #setLevel(params: Members): Answered {
    this.#logLevel = params;
    for (const branch of this.#branches) this.#sendLevel(branch);
    return { result: {} };
  }

  #sendLevel(branch: Branch): void {
    if (!this.#logLevel || !branch.can('logging')) return;
    void branch.ask('logging/setLevel', this.#logLevel, READ_MS);
  }

  #notification(frame: Frame): void {
    const { method, params } = frame.message;
    if (method === 'notifications/initialized') {
      for (const branch of this.#branches) branch.initialized(frame);
      return;
    }
    if (method === 'notifications/progress') return this.#upstreamRequests.progress(frame);
    if (method === 'notifications/cancelled') {
      const branch = this.#settled(params?.['requestId'] as Id);
      branch?.receive(frame);
      return;
    }
    for (const branch of this.#branches) if (branch.result) branch.receive(frame);
  }

  /** Forgets a request. Returns where it was sent. */
  #settled(id: Id): Branch | undefined {
    const inFlight = this.#inFlight.get(id);
    if (!inFlight) return undefined;
    this.#inFlight.delete(id);
    if (inFlight.token !== undefined) this.#tokens.delete(inFlight.token);
    return inFlight.branch;
  }

  #answer(id: Id, answered: Answered): void {
    this.#settled(id);
    this.#options.client.send(frameOf({ jsonrpc: '2.0', id, ...answered }));
  }

  // ---- from the upstreams -------------------------------------------------------------------

  #fromUpstream(branch: Branch, frame: Frame, written?: (isDelivered: boolean) => void): void {
    const { client } = this.#options;
    const { method = '', params } = frame.message;
    if (isResponse(frame)) {
      const { id } = frame.message;
      // An upstream answers only what it was asked.
      if (this.#inFlight.get(id)?.branch !== branch) return written?.(false);
      this.#settled(id);
      return client.send(frame, written);
    }
    if (isRequest(frame)) return client.send(this.#upstreamRequests.ask(branch, frame));
    if (method === 'notifications/progress') {
      if (this.#tokens.get(params?.['progressToken'] as Id) === branch) client.send(frame);
      return;
    }
    if (method === 'notifications/cancelled') {
      const cancelled = this.#upstreamRequests.cancel(branch, frame);
      return cancelled && client.send(cancelled);
    }
    const [, kind] = /^notifications\/(\w+)\/list_changed$/.exec(method) ?? [];
    if (kind !== undefined) branch.changed(kind);
    client.send(frame);
  }

  #ready(branch: Branch): void {
    this.#catalog.changed();
    this.#sendLevel(branch);
    if (!this.#isOpen) return;
    const { name } = branch.upstream;
    this.#options.log('info', 'upstream_ready', { upstream: name });
    if (branch.can('tools')) this.#announce('tools/list');
    if (branch.can('prompts')) this.#announce('prompts/list');
    if (branch.can('resources')) this.#announce('resources/list');
  }

  #announce(list: ListMethod): void {
    const kind = list.split('/', 1)[0];
    const method = `notifications/${kind}/list_changed`;
    this.#options.client.send(frameOf({ jsonrpc: '2.0', method }));
  }

  // ---- lifecycle ----------------------------------------------------------------------------

  async toolsListed(): Promise<void> {
    for (const branch of this.#branches) await branch.toolsListed();
  }

  pauseUpstream(): void {
    for (const branch of this.#branches) branch.pauseUpstream();
  }

  resumeUpstream(): void {
    for (const branch of this.#branches) branch.resumeUpstream();
  }

  disconnect(): void {
    for (const branch of this.#branches) branch.disconnect();
  }

  detach(id: Id): void {
    this.#inFlight.get(id)?.branch?.detach(id);
  }

  async close(): Promise<void> {
    await Promise.all(this.#branches.map((branch) => branch.close()));
    this.#options.onClosed();
  }
}
