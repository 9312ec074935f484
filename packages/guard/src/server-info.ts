import { isObject, objectIn, type Frame } from './frame.js';
import type { Connect } from './link.js';

/** Where servers of revision 2026-07-28 introduce themselves, which have no handshake. */
const SERVER_INFO_KEY = 'io.modelcontextprotocol/serverInfo';

/** What a server says about itself. */
export interface ServerInfo {
  readonly name: string;
  readonly version: string;
  readonly hasTools: boolean;
}

/** Reports how the server of each new connection introduces itself, before anybody else sees it. */
export function observeServer(connect: Connect, onServer: (server: ServerInfo) => void): Connect {
  return (events) => {
    let isKnown = false;
    const observe = (frame: Frame): void => {
      const { result } = frame.message;
      const info =
        result?.['protocolVersion'] === undefined
          ? objectIn(result, '_meta')[SERVER_INFO_KEY]
          : result['serverInfo'];
      if (!isObject(info)) return;
      isKnown = true;
      const { name, version } = info;
      const capabilities = result?.['capabilities'];
      onServer({
        name: typeof name === 'string' ? name : '',
        version: typeof version === 'string' ? version : '',
        hasTools:
          capabilities === undefined || objectIn(result, 'capabilities')['tools'] !== undefined,
      });
    };
    return connect({
      ...events,
      onFrame: (frame) => {
        if (!isKnown) observe(frame);
        events.onFrame(frame);
      },
    });
  };
}
