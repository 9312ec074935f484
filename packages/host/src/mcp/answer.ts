import { randomUUID } from 'node:crypto';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { HostLog } from '../log/log.js';
import type { Scrub } from '../secret/scrub.js';

/**
 * The SDK sends the message of whatever is thrown. Only errors of the protocol were written for a
 * client; all others may hold anything, so they go to the log, and the client gets the way there.
 */
export function answerWith(log: HostLog, scrub: Scrub) {
  return async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (cause) {
      if (cause instanceof ProtocolError) throw scrub.error(cause);
      const id = randomUUID();
      log('error', 'unexpected', { correlation_id: id, cause });
      const message = `Something failed in a way that nobody foresaw. The operator finds the cause under ${id}.`;
      throw new ProtocolError(ProtocolErrorCode.InternalError, message, { correlation_id: id });
    }
  };
}
