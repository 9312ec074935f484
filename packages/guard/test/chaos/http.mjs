/**
 * The chaos server over Streamable HTTP: sessions for the revisions that have them, none for 2026-07-28.
 *
 * @module
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { isModern } from './protocol.mjs';

const sseHeaders = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' };
const event = (frame) => `event: message\ndata: ${JSON.stringify(frame)}\n\n`;

export const serveHttp = async (protocol, port) => {
  /** Standalone streams, by session. */
  const sessions = new Map();
  /** How a forgotten session is refused. */
  let forgotten = 404;
  protocol.listeners.add((frame) => {
    for (const stream of sessions.values()) stream?.write(event(frame));
  });

  const json = (response, status, body, headers = {}) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };

  /** Answers with JSON unless something was sent before: then it is an event stream. */
  const exchangeOf = (response, message, headers) => {
    const stream = () => {
      if (!response.headersSent) response.writeHead(200, { ...sseHeaders, ...headers });
      return response;
    };
    const send = (frame) => {
      const isAnswer = frame.method === undefined && frame.id === message.id;
      if (response.writableEnded) return;
      if (!isAnswer || response.headersSent) stream().write(event(frame));
      else return json(response, 200, frame, headers);
      if (isAnswer) response.end();
    };
    const fail = (fault, right, { ms }) => {
      switch (fault) {
        case 'sse':
          stream().write(': comment\n\nid: 1\nretry: 10\ndata:\n\n');
          return send(right);
        case 'sse_cut':
          return stream().write(': comment\n\n', () => response.destroy());
        case 'sse_eof':
          return stream().end(': comment\n\n');
        case 'empty_202':
          return response.writeHead(202, headers).end();
        case 'http_429':
          return json(response, 429, '{"error":"too many"}', {
            'retry-after': `${Math.ceil(ms / 1000)}`,
          });
        case 'http_503':
          return json(response, 503, '{"error":"busy"}', {
            'retry-after': `${Math.ceil(ms / 1000)}`,
          });
        case 'http_html':
          return response
            .writeHead(502, { 'content-type': 'text/html' })
            .end('<html>Bad Gateway</html>');
        case 'reset':
          return response.destroy();
        default: {
          // The answer is right; the session is forgotten afterwards, as by a restart of the server.
          forgotten = fault === 'forget_400' ? 400 : 404;
          send(right);
          return sessions.clear();
        }
      }
    };
    return {
      send,
      fail,
      partial: (bytes) =>
        new Promise((resolve) => void stream().write(`data: ${bytes}`, () => resolve())),
      // Over HTTP, the body is not JSON.
      garbage: (lines) => json(response, 200, lines.join('\n'), headers),
      listen: (_, listeners) => {
        const _meta = { 'io.modelcontextprotocol/subscriptionId': message.id };
        const notify = (frame) =>
          send({
            ...frame,
            params: { ...frame.params, _meta: { ...frame.params?._meta, ..._meta } },
          });
        notify({ jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged' });
        listeners.add(notify);
        response.on('close', () => listeners.delete(notify));
      },
    };
  };

  const unknownSession = (response, id) =>
    json(response, forgotten, {
      jsonrpc: '2.0',
      id: id ?? null,
      error: { code: forgotten === 404 ? -32001 : -32000, message: 'No valid session ID provided' },
    });

  const onPost = async (request, response) => {
    const message = JSON.parse(await readText(request));
    const session = request.headers['mcp-session-id'];
    const headers = {};
    if (!isModern(message)) {
      if (message.method === 'initialize') {
        headers['mcp-session-id'] = randomUUID();
        sessions.set(headers['mcp-session-id'], undefined);
      } else if (!sessions.has(session)) return unknownSession(response, null);
    }
    const isRequest = message.method !== undefined && message.id !== undefined;
    if (!isRequest) response.writeHead(202).end();
    return protocol.handle(exchangeOf(response, message, headers), message);
  };

  const server = createServer((request, response) => {
    const session = request.headers['mcp-session-id'];
    if (request.method === 'POST') void onPost(request, response);
    else if (!sessions.has(session)) unknownSession(response);
    else if (request.method === 'GET') {
      response.writeHead(200, sseHeaders).flushHeaders();
      sessions.set(session, response);
    } else {
      sessions.get(session)?.end();
      sessions.delete(session);
      response.writeHead(200).end();
    }
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${server.address().port}/mcp`;
};
