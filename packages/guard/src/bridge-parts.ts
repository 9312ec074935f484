import type { Frame, Id, Message } from './frame.js';

export const MODERN_VERSION = '2026-07-28';
export const LEGACY_VERSION = '2025-11-25';

/** Translates the frames of a client for a server of another revision, and back. */
export interface Translator {
  readonly toUpstream: (frame: Frame, isMutation: boolean) => void;
  readonly fromUpstream: (frame: Frame) => void;
}

/** The two ends of a bridge. `origin` is the frame that the message was made from. */
export interface Ends {
  /** Answers the server, if it is still running: it may end right after a request. */
  readonly answer: (message: Message) => void;
  readonly up: (message: Message, isMutation?: boolean, origin?: Frame) => void;
  readonly down: (message: Message, origin?: Frame) => void;
}

/** The answer to a request that cannot be translated into the other revision. */
export function refused(id: Id, reason: string, code = -32_601): Message {
  const message = `${reason}: the guard bridges tools, resources and prompts between revisions.`;
  const data = { code: 'unsupported_by_upstream', retryable: false };
  return { jsonrpc: '2.0', id, error: { code, message, data } };
}
