import type { McpServer } from '@modelcontextprotocol/server';
import type { Deliveries } from '../call/deliveries.js';

/**
 * The same server. Answers that it sends are delivered when its transport has taken them without an
 * error and `written` resolves, which gets the HTTP request that the answer belongs to.
 */
export function confirmSends(
  server: McpServer,
  { begin }: Pick<Deliveries, 'begin'>,
  written: (request: Request | undefined) => Promise<void>,
): McpServer {
  const connect = server.connect.bind(server);
  server.connect = (transport) => {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => {
      const sent = send(message, options);
      const writing = begin(message);
      if (writing) {
        sent.then(() => written(writing.request)).then(writing.confirm, writing.fail);
      }
      return sent;
    };
    return connect(transport);
  };
  return server;
}
