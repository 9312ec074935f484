import { isObject, objectIn, type Frame } from './frame.js';
import type { Connect } from './link.js';

/** What a server says about itself in its handshake. */
export interface ServerInfo {
  readonly name: string;
  readonly version: string;
  readonly hasTools: boolean;
}

/** Reports the handshake of each new connection, before anybody else sees it. */
export function observeServer(connect: Connect, onServer: (server: ServerInfo) => void): Connect {
  return (events) => {
    let isKnown = false;
    const observe = (frame: Frame): void => {
      const { result } = frame.message;
      const info = result?.['serverInfo'];
      if (!isObject(info)) return;
      isKnown = true;
      const { name, version } = info;
      onServer({
        name: typeof name === 'string' ? name : '',
        version: typeof version === 'string' ? version : '',
        hasTools: objectIn(result, 'capabilities')['tools'] !== undefined,
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
