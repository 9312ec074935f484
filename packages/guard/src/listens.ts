import type { Branch, Members } from './branch.js';
import {
  frameOf,
  isObject,
  objectIn,
  type Frame,
  type Id,
  type Message,
  type RequestFrame,
} from './frame.js';
import { mergedCapabilities } from './merged-handshake.js';
import type { Client } from './session-options.js';

const SUBSCRIPTION_KEY = 'io.modelcontextprotocol/subscriptionId';
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
const FIRST_RETRY_MS = 2000;
const MAX_RETRY_MS = 60_000;

/** The members of a filter by the capability that they need. */
const FILTERS = [
  ['toolsListChanged', 'tools', 'listChanged'],
  ['promptsListChanged', 'prompts', 'listChanged'],
  ['resourcesListChanged', 'resources', 'listChanged'],
  ['resourceSubscriptions', 'resources', 'subscribe'],
] as const;

/** A `subscriptions/listen` of the client. */
interface Listen {
  readonly frame: RequestFrame;
  readonly wanted: Members;
  /** The upstreams that it was sent to, and how often each has ended it. */
  readonly branches: Map<Branch, number>;
  readonly retries: Map<Branch, NodeJS.Timeout>;
}

/**
 * Subscriptions of a client of revision 2026-07-28 to several upstreams. Each upstream has one of its own
 * under the same id; the client sees one. An upstream that was lost is asked again.
 */
export class Listens {
  readonly #client: Pick<Client, 'send'>;
  readonly #branches: () => readonly Branch[];
  readonly #open = new Map<Id, Listen>();

  constructor(client: Pick<Client, 'send'>, branches: () => readonly Branch[]) {
    this.#client = client;
    this.#branches = branches;
  }

  /** Opens a subscription. Returns the answer if there is nothing to wait for. */
  listen(frame: RequestFrame) {
    const { id, params } = frame.message;
    const requested = params?.['notifications'];
    if (!isObject(requested)) {
      return { error: { code: -32_602, message: 'Invalid params: notifications is missing' } };
    }
    const wanted = honoured(requested, mergedCapabilities(this.#branches()));
    const listen: Listen = { frame, wanted, branches: new Map(), retries: new Map() };
    this.#open.set(id, listen);
    this.#notify(id, ACKNOWLEDGED, { notifications: wanted });
    if (Object.keys(wanted).length === 0) {
      this.#open.delete(id);
      return { result: { resultType: 'complete', _meta: { [SUBSCRIPTION_KEY]: id } } };
    }
    for (const branch of this.#branches()) this.#send(listen, branch);
    return undefined;
  }

  /** An upstream became ready: it belongs to what the client listens to. */
  ready(branch: Branch): void {
    for (const listen of this.#open.values()) this.#send(listen, branch);
  }

  #send(listen: Listen, branch: Branch): void {
    listen.retries.delete(branch);
    const capabilities = objectIn(branch.result, 'capabilities');
    if (Object.keys(honoured(listen.wanted, capabilities)).length === 0) return;
    listen.branches.set(branch, listen.branches.get(branch) ?? 0);
    branch.receive(listen.frame);
  }

  /** Takes the end of an upstream's part. False if the response belongs to another request. */
  ended(branch: Branch, { id }: Message & { readonly id: Id }): boolean {
    const listen = this.#open.get(id);
    if (!listen) return false;
    const failures = listen.branches.get(branch);
    if (failures === undefined) return true;
    listen.branches.set(branch, failures + 1);
    const delay = Math.min(FIRST_RETRY_MS * 2 ** failures, MAX_RETRY_MS);
    listen.retries.set(branch, setTimeout(() => this.#send(listen, branch), delay).unref());
    return true;
  }

  /** Passes a notification of an upstream on, if the client listens to it. */
  notified(branch: Branch, frame: Frame): void {
    const { method, params } = frame.message;
    const id = objectIn(params, '_meta')[SUBSCRIPTION_KEY] as Id;
    const listen = this.#open.get(id);
    if (!listen?.branches.has(branch)) return;
    if (method === ACKNOWLEDGED) listen.branches.set(branch, 0);
    else this.#client.send(frame);
  }

  /** A list of the guard itself has changed: an upstream was late. */
  announce(kind: string): void {
    for (const [id, { wanted }] of this.#open) {
      if (wanted[`${kind}ListChanged`] !== true) continue;
      this.#notify(id, `notifications/${kind}/list_changed`, {});
    }
  }

  #notify(id: Id, method: string, params: Members): void {
    const _meta = { [SUBSCRIPTION_KEY]: id };
    this.#client.send(frameOf({ jsonrpc: '2.0', method, params: { ...params, _meta } }));
  }

  /** The client has cancelled it. */
  cancel(id: Id, frame: Frame): void {
    const listen = this.#open.get(id);
    if (!listen) return;
    this.#open.delete(id);
    for (const timer of listen.retries.values()) clearTimeout(timer);
    for (const branch of listen.branches.keys()) branch.receive(frame);
  }

  close(): void {
    for (const { retries } of this.#open.values()) {
      for (const timer of retries.values()) clearTimeout(timer);
    }
    this.#open.clear();
  }
}

/** Whether a notification is one that upstreams send to subscribers only. */
export function isSubscribed({ message: { params } }: Frame): boolean {
  return objectIn(params, '_meta')[SUBSCRIPTION_KEY] !== undefined;
}

/** What of a filter these capabilities allow. */
function honoured(requested: Members, capabilities: Members): Members {
  const entries = FILTERS.flatMap(([member, capability, flag]) => {
    const value = requested[member];
    const isWanted = Array.isArray(value) ? value.length > 0 : value === true;
    const isPossible = objectIn(capabilities, capability)[flag] === true;
    return isWanted && isPossible ? [[member, value] as const] : [];
  });
  return Object.fromEntries(entries);
}
