import type { ListedTool } from './effects.js';
import {
  frameOf,
  objectIn,
  type Frame,
  type Message,
  type RequestFrame,
  type ResponseFrame,
} from './frame.js';
import { KeptResults, type ResultKeeper } from './kept-results.js';
import { toolsIn } from './listing.js';

type Members = Readonly<Record<string, unknown>>;

interface ViewOptions {
  /** Changes what the client sees of a listing. */
  readonly listed?: ((tools: readonly ListedTool[]) => readonly unknown[]) | undefined;
  /** Keeps the rests of results that were cut. */
  readonly kept?: KeptResults | undefined;
}

/** What a client sees of an upstream, where the guard is configured to change it. */
export interface SessionView {
  /** Answers a request that is not for the upstream. False: it is. */
  readonly answers: (request: RequestFrame, send: (frame: Frame) => void) => boolean;
  /** The response of the upstream, as the client sees it. */
  readonly response: (request: RequestFrame, response: ResponseFrame) => Frame;
  readonly keeper: ResultKeeper | undefined;
  /** The client is gone. */
  readonly close: () => void;
}

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
/** The first revision with links to resources in results. */
const LINKS_SINCE = '2025-06-18';

/** The view of one client. */
export function createView({ listed, kept }: ViewOptions): SessionView {
  const owner = {};
  let version = '';
  /** Whether the upstream itself has resources; unknown before the handshake. */
  let hasResources = true;

  const response: SessionView['response'] = ({ message: { method } }, frame) => {
    const { result } = frame.message;
    if (!result) return frame;
    const isHandshake = method === 'initialize' || method === 'server/discover';
    if (isHandshake) {
      const { protocolVersion } = result;
      if (typeof protocolVersion === 'string') version = protocolVersion;
      hasResources = objectIn(result, 'capabilities')['resources'] !== undefined;
    }
    const tools = method === 'tools/list' && listed ? toolsIn(result) : undefined;
    const shown = tools && listed?.(tools);
    const changed =
      shown && shown !== tools
        ? { ...result, tools: shown }
        : isHandshake && kept && !hasResources
          ? withResources(result)
          : undefined;
    return changed ? frameOf({ ...frame.message, result: changed }, frame) : frame;
  };

  const keeper: ResultKeeper | undefined = kept && {
    keep: (text, pageBytes) => kept.keep(owner, text, pageBytes),
    // Revision 2026-07-28 has no handshake.
    get canLink() {
      return version === '' || version >= LINKS_SINCE;
    },
  };
  return {
    response,
    keeper,
    answers: (request, send) => {
      const frame = kept && answerFrom(kept, owner, request, hasResources);
      if (frame) send(frame);
      return frame !== undefined;
    },
    close: () => kept?.forget(owner),
  };
}

function withResources(result: Members): Members {
  return { ...result, capabilities: { ...objectIn(result, 'capabilities'), resources: {} } };
}

function answerFrom(
  kept: KeptResults,
  owner: object,
  { message: { id, method, params } }: RequestFrame,
  hasResources: boolean,
): Frame | undefined {
  const isModern = objectIn(params, '_meta')[VERSION_KEY] !== undefined;
  const extra = isModern ? { resultType: 'complete', ttlMs: 0, cacheScope: 'private' } : {};
  const answer = (result: Message['result']): Frame =>
    frameOf({ jsonrpc: '2.0', id, result: { ...result, ...extra } });
  if (!hasResources && method === 'resources/list') return answer({ resources: [] });
  if (!hasResources && method === 'resources/templates/list') {
    return answer({ resourceTemplates: [] });
  }
  const uri = params?.['uri'];
  if (method !== 'resources/read' || !KeptResults.isAddress(uri)) return undefined;
  const page = kept.read(owner, uri);
  if (!page) {
    const message =
      'Resource not found: this part of a result has expired, or does not exist. Call the tool again.';
    return frameOf({ jsonrpc: '2.0', id, error: { code: -32_602, message, data: { uri } } });
  }
  const { text, number, pages, next } = page;
  const mimeType = 'text/plain';
  const note = `[Page ${number} of ${pages}. The next page is ${next}]`;
  const more = next === undefined ? [] : [{ uri: next, mimeType, text: note }];
  return answer({ contents: [{ uri, mimeType, text }, ...more] });
}
