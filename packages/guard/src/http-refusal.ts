import { isObject, isResponse, parseLine, type Id, type ResponseFrame } from './frame.js';

/** How a transport says that it does not know a session: it has not read the request. */
const UNKNOWN_SESSION = /\bsession[- ]id\b/i;
/** Of errors of a transport, which belong to no request. */
const NO_REQUEST: ReadonlySet<unknown> = new Set([undefined, null, 'server-error']);

/** The response to a request in the body of an error status. */
export function responseIn(body: string, id: Id): ResponseFrame | undefined {
  const json = parsed(body);
  const frames = json === undefined ? undefined : parseLine(JSON.stringify(json));
  return frames?.filter(isResponse).find(({ message }) => message.id === id);
}

/**
 * What an error status says about the session of a request that it does not answer. `ended`: the server
 * does not know the session, and has not processed the request. `doubtful`: it may be that.
 */
export function sessionAfter(status: number, body: string): 'open' | 'ended' | 'doubtful' {
  const json = parsed(body);
  const isAnswer = Array.isArray(json) || (isObject(json) && !NO_REQUEST.has(json['id']));
  // The specification says 404; some servers answer 400 with a text.
  if (status === 404) return isAnswer ? 'doubtful' : 'ended';
  if (status !== 400 || !/\bsession\b/i.test(body)) return 'open';
  const error = isObject(json) && isObject(json['error']) ? json['error'] : {};
  return !isAnswer && UNKNOWN_SESSION.test(String(error['message'])) ? 'ended' : 'doubtful';
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
