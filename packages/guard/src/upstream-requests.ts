import type { Branch } from './branch.js';
import { frameOf, objectIn, type Frame, type Id, type RequestFrame } from './frame.js';

interface Asked {
  readonly branch: Branch;
  readonly id: Id;
  readonly progressToken: unknown;
}

/**
 * Requests of several upstreams to one client: sampling, elicitation, roots. Upstreams number them on
 * their own, so the client sees other ids and progress tokens.
 */
export class UpstreamRequests {
  readonly #asked = new Map<Id, Asked>();
  #sequence = 0;

  /** The request for the client. */
  ask(branch: Branch, frame: RequestFrame): Frame {
    const { message } = frame;
    const { id, params } = message;
    const wireId = `toolkeel-upstream:${++this.#sequence}`;
    const meta = objectIn(params, '_meta');
    const { progressToken } = meta;
    this.#asked.set(wireId, { branch, id, progressToken });
    if (progressToken === undefined) return frameOf({ ...message, id: wireId }, frame);
    const _meta = { ...meta, progressToken: wireId };
    return frameOf({ ...message, id: wireId, params: { ...params, _meta } }, frame);
  }

  /** Passes the client's answer on to the upstream that asked. */
  answer(frame: Frame): void {
    const wireId = frame.message.id ?? '';
    const asked = this.#asked.get(wireId);
    if (!asked) return;
    this.#asked.delete(wireId);
    asked.branch.receive(frameOf({ ...frame.message, id: asked.id }, frame));
  }

  /** Passes the client's progress on. */
  progress(frame: Frame): void {
    const { message } = frame;
    const asked = this.#asked.get(message.params?.['progressToken'] as Id);
    if (!asked) return;
    const { branch, progressToken } = asked;
    branch.receive(frameOf({ ...message, params: { ...message.params, progressToken } }, frame));
  }

  /** The upstream's cancellation of its request, for the client. */
  cancel(branch: Branch, frame: Frame): Frame | undefined {
    const { message } = frame;
    const requestId = message.params?.['requestId'];
    for (const [wireId, asked] of this.#asked) {
      if (asked.branch !== branch || asked.id !== requestId) continue;
      this.#asked.delete(wireId);
      return frameOf({ ...message, params: { ...message.params, requestId: wireId } }, frame);
    }
    return undefined;
  }
}
