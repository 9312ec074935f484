import type { HostLog } from '@toolkeel/host';
import { Branch, type BranchUpstream, type Hello, type Members } from './branch.js';
import { Catalog, isListMethod, type ListMethod } from './catalog.js';
import { endsWithin } from './ends-within.js';
import { Router, type Answered, type Target } from './router.js';
import {
  frameOf,
  isRequest,
  isResponse,
  objectIn,
  type Frame,
  type Id,
  type RequestFrame,
} from './frame.js';
import { MODERN_VERSION } from './bridge-parts.js';
import { lostFault } from './attempts.js';
import { answerFrame } from './kept-texts.js';
import { isSubscribed, Listens } from './listens.js';
import {
  CAPABILITIES_KEY,
  completed,
  isModernRequest,
  mergedDiscovery,
  mergedHandshake,
  modernProblem,
  notStarted,
  VERSION_KEY,
} from './merged-handshake.js';
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
const LOG_LEVELS = new Set<unknown>(
  'debug info notice warning error critical alert emergency'.split(' '),
);
const LEVEL_MS = 60_000;

/** A request of the client: where it was sent, once that is known. */
interface InFlight {
  branch: Branch | undefined;
  readonly token: Id | undefined;
}

/** The first request to each upstream for a client of revision 2026-07-28, of which nothing is known yet. */
const DISCOVER: Hello = Object.freeze({
  method: 'server/discover',
  params: { _meta: { [VERSION_KEY]: MODERN_VERSION, [CAPABILITIES_KEY]: {} } },
});

/**
 * Routes one client to several upstreams, each with a session of its own. Requests for one upstream pass
 * as they came; lists, the handshake and the log level are for all. An upstream that is slow or dead
 * delays nothing but its own calls.
 */
export class MultiSession implements Route {
  readonly #options: MultiSessionOptions;
  #branches: readonly Branch[];
  #catalog: Catalog;
  #router: Router;
  readonly #inFlight = new Map<Id, InFlight>();
  readonly #tokens = new Map<Id, Branch>();
  readonly #upstreamRequests = new UpstreamRequests();
  readonly #listens: Listens;
  #logLevel: Members | undefined;
  /** The revision of the client is decided by its first request, and that of the upstreams. */
  #revision: 'sessions' | 'modern' | undefined;
  /** Resolves with whether all upstreams can be used in revision 2026-07-28. */
  #starting: Promise<boolean> | undefined;
  /** The client has its answer to the handshake: what becomes ready later is announced. */
  #isOpen = false;
  #isClosed = false;

  constructor(options: MultiSessionOptions) {
    this.#options = options;
    this.#branches = this.#openBranches();
    this.#catalog = this.#openCatalog();
    this.#router = new Router(this.#catalog);
    this.#listens = new Listens(options.client, () => this.#branches);
  }

  #openBranches(): readonly Branch[] {
    const { upstreams, client, log } = this.#options;
    return upstreams.map((upstream): Branch => {
      const branch: Branch = new Branch({
        upstream,
        client,
        log,
        onFrame: (frame, written) => this.#fromUpstream(branch, frame, written),
        onReady: () => this.#ready(branch),
      });
      return branch;
    });
  }

  #openCatalog(): Catalog {
    const { log } = this.#options;
    const onLate = (method: ListMethod): void => this.#announce(method);
    return new Catalog({ branches: this.#branches, log, onLate });
  }

  // ---- from the client ----------------------------------------------------------------------

  receive(frame: Frame): void {
    if (isRequest(frame)) return void this.#request(frame);
    if (frame.message.method !== undefined) return this.#notification(frame);
    if (isResponse(frame)) this.#upstreamRequests.answer(frame);
  }

  async #request(frame: RequestFrame): Promise<void> {
    const { id, method, params = {} } = frame.message;
    const arrivedAt = performance.now();
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
    const found = this.#route(frame, params);
    const target = found instanceof Promise ? await found : found;
    // Cancelled in the meantime.
    if (this.#inFlight.get(id) !== inFlight || target === undefined) return;
    if (!(target instanceof Branch)) return this.#answer(id, target);
    if (!target.result) {
      // A request before the handshake would be lost with an upstream that does not complete it.
      const { starting, upstream } = target;
      const isCall = method === 'tools/call' && starting !== undefined;
      await (isCall ? endsWithin(starting, upstream.calls.limitMs(frame)) : starting);
      if (this.#inFlight.get(id) !== inFlight || this.#isClosed) return;
    }
    if (!target.result) return this.#unavailable(frame, target, inFlight);
    inFlight.branch = target;
    if (inFlight.token !== undefined) this.#tokens.set(inFlight.token, target);
    target.receive({ ...frame, arrivedAt });
  }

  /** Answers a request for an upstream that is not running: nothing was sent. */
  async #unavailable(
    frame: RequestFrame,
    { upstream, reason }: Branch,
    inFlight: InFlight,
  ): Promise<void> {
    const { id, method } = frame.message;
    if (method !== 'tools/call') {
      const message = `The upstream ${upstream.name} ${reason}. Try again later.`;
      const data = { method, retryable: true };
      return this.#answer(id, { error: { code: UNAVAILABLE_CODE, message, data } });
    }
    const answer = await upstream.calls.run(frame, {
      signal: new AbortController().signal,
      onDetached: () => {},
      tools: () => undefined,
      reason: () => reason,
      send: () => Promise.reject(lostFault('no', reason)),
      finish: () => {},
    });
    if (this.#inFlight.get(id) !== inFlight) return answer.settled?.(false);
    this.#settled(id);
    this.#options.client.send(answer.frame, answer.settled);
  }

  /** The upstream of a request, or the answer to it. Undefined: the answer follows. */
  #route(frame: RequestFrame, params: Members): Target | Promise<Target> {
    const { method } = frame.message;
    if (this.#revision !== 'sessions') {
      if (isModernRequest(method, params)) return this.#routeModern(frame, params);
      if (method === 'initialize') return this.#initialize(params);
      if (method === 'ping') return { result: {} };
      return { error: modernOrNotStarted(this.#revision, method, params) };
    }
    if (method === 'initialize') {
      return { error: { code: -32_600, message: 'Invalid Request: initialized already' } };
    }
    if (method === 'ping') return { result: {} };
    if (isListMethod(method)) return this.#catalog.list(method).then((result) => ({ result }));
    if (method === 'logging/setLevel') return this.#setLevel(params);
    return this.#router.route(method, params, true);
  }

  async #routeModern(frame: RequestFrame, params: Members): Promise<Target> {
    const { method } = frame.message;
    if (!(await this.#isModern())) return { error: notStarted(method, params) };
    const problem = modernProblem(method, params);
    if (problem) return { error: problem };
    if (method === 'server/discover') return { result: mergedDiscovery(this.#branches) };
    if (method === 'subscriptions/listen') return this.#listens.listen(frame);
    if (!isListMethod(method)) return this.#router.route(method, params, false);
    return { result: completed(await this.#catalog.list(method)) };
  }

  /** Whether the client can be served in revision 2026-07-28. Starts the upstreams to find out. */
  async #isModern(): Promise<boolean> {
    if (this.#revision === 'modern') return true;
    if (this.#branches.some(({ isTooOld }) => isTooOld)) return false;
    const starting = (this.#starting ??= this.#startModern());
    const isModern = await starting;
    // The client has opened a session meanwhile, or another request has noticed the end first.
    if (this.#starting !== starting) return isModern && this.#revision !== 'sessions';
    this.#starting = undefined;
    if (!isModern) await this.#reopen();
    else this.#revision = 'modern';
    this.#isOpen = isModern;
    return isModern;
  }

  /** Every upstream has to speak the revision, or to be bridged: a list must not lack some of them. */
  #startModern(): Promise<boolean> {
    return new Promise((resolve) => {
      const started = this.#branches.map(async (branch) => {
        await branch.start(DISCOVER);
        if (!branch.isModern) resolve(false);
      });
      void Promise.all(started).then(() => resolve(true));
    });
  }

  /** Ends what was started for the other revision: a server may be unusable after its first request. */
  async #reopen(): Promise<void> {
    const before = this.#branches;
    this.#branches = this.#openBranches();
    this.#catalog = this.#openCatalog();
    this.#router = new Router(this.#catalog);
    await Promise.all(before.map((branch) => branch.close()));
  }

  async #initialize(params: Members): Promise<Answered> {
    if (this.#revision !== undefined) {
      return { error: { code: -32_600, message: 'Invalid Request: initialized already' } };
    }
    this.#revision = 'sessions';
    // Those that were asked for the other revision.
    const isAsked = this.#starting !== undefined;
    this.#starting = undefined;
    if (isAsked) await this.#reopen();
    const hello: Hello = { method: 'initialize', params };
    await Promise.all(this.#branches.map((branch) => branch.start(hello)));
    this.#isOpen = true;
    return { result: mergedHandshake(params, this.#branches) };
  }

  #setLevel(params: Members): Answered {
    if (!LOG_LEVELS.has(params['level'])) {
      const message = `Invalid params: level must be one of ${[...LOG_LEVELS].join(', ')}`;
      return { error: { code: -32_602, message } };
    }
    this.#logLevel = params;
    for (const branch of this.#branches) this.#sendLevel(branch);
    return { result: {} };
  }

  #sendLevel(branch: Branch): void {
    if (!this.#logLevel || !branch.can('logging')) return;
    void branch.ask('logging/setLevel', this.#logLevel, LEVEL_MS);
  }

  #notification(frame: Frame): void {
    const { method, params } = frame.message;
    if (method === 'notifications/initialized') {
      for (const branch of this.#branches) branch.initialized(frame);
      return;
    }
    if (method === 'notifications/progress') return this.#upstreamRequests.progress(frame);
    if (method === 'notifications/cancelled') {
      const id = params?.['requestId'] as Id;
      this.#listens.cancel(id, frame);
      if (this.#inFlight.has(id)) this.#settled(id)?.receive(frame);
      // Its response may be on its way.
      else for (const branch of this.#branches) branch.dropped(id);
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
    this.#options.client.send(answerFrame(id, answered));
  }

  // ---- from the upstreams -------------------------------------------------------------------

  #fromUpstream(branch: Branch, frame: Frame, written?: (isDelivered: boolean) => void): void {
    const { client } = this.#options;
    const { method = '', params } = frame.message;
    if (isResponse(frame)) {
      const { id } = frame.message;
      if (this.#listens.ended(branch, frame.message)) return written?.(false);
      // An upstream answers only what it was asked.
      if (this.#inFlight.get(id)?.branch !== branch) return written?.(false);
      this.#settled(id);
      return client.send(frame, written);
    }
    if (isRequest(frame)) {
      if (this.#revision === 'sessions') {
        return client.send(this.#upstreamRequests.ask(branch, frame));
      }
      // Revision 2026-07-28 has no requests of servers.
      const error = { code: -32_601, message: 'Method not found' };
      return void branch.receive(frameOf({ jsonrpc: '2.0', id: frame.message.id, error }));
    }
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
    if (isSubscribed(frame)) return this.#listens.notified(branch, frame);
    client.send(frame);
  }

  #ready(branch: Branch): void {
    this.#catalog.changed();
    this.#sendLevel(branch);
    this.#listens.ready(branch);
    if (!this.#isOpen) return;
    const { name } = branch.upstream;
    this.#options.log('info', 'upstream_ready', { upstream: name });
    if (branch.can('tools')) this.#announce('tools/list');
    if (branch.can('prompts')) this.#announce('prompts/list');
    if (branch.can('resources')) this.#announce('resources/list');
  }

  #announce(list: ListMethod): void {
    const [kind = ''] = list.split('/', 1);
    if (this.#revision === 'modern') return this.#listens.announce(kind);
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
    this.#isClosed = true;
    for (const branch of this.#branches) branch.disconnect();
  }

  detach(id: Id): void {
    this.#inFlight.get(id)?.branch?.detach(id);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#listens.close();
    await Promise.all(this.#branches.map((branch) => branch.close()));
    this.#options.onClosed();
  }
}

/** Why a request without the members of revision 2026-07-28 is refused before a handshake. */
function modernOrNotStarted(revision: 'modern' | undefined, method: string, params: Members) {
  if (revision === undefined) return notStarted(method, params);
  const message = `Invalid params: _meta needs ${VERSION_KEY} and ${CAPABILITIES_KEY}`;
  return { code: -32_602, message };
}
