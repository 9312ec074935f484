/**
 * The methods of the chaos server in both revisions, independent of the transport. An exchange is one request and the
 * way to answer it: `send` a frame, `raw` bytes, or `fail` in a way that only its transport knows.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { faults, toolsOf } from './tools.mjs';

export const legacyVersions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
export const modernVersion = '2026-07-28';
const prefix = 'io.modelcontextprotocol';
const serverInfo = { name: 'chaos', version: '1.0.0' };
const capabilities = {
  tools: { listChanged: true },
  resources: { listChanged: true },
  prompts: { listChanged: true },
  logging: {},
};

export const isModern = ({ method, params }) =>
  method === 'server/discover' || params?._meta?.[`${prefix}/protocolVersion`] !== undefined;

const textOf = (text) => ({ content: [{ type: 'text', text }] });

export const createProtocol = (world, options) => {
  const state = { added: 0, level: 'info' };
  const startNumber = world.start({ argv: options.argv });
  const changed = options.changedAfterRestart && startNumber > 1;
  const listeners = new Set();
  /** Requests to the client, by id. */
  const asked = new Map();
  let nextAsk = 0;

  const answerOf = ({ id }, modern, result) => ({
    jsonrpc: '2.0',
    id,
    result: modern ? { resultType: 'complete', ...result } : result,
  });
  const errorOf = ({ id }, code, message) => ({ jsonrpc: '2.0', id, error: { code, message } });

  const die = () => process.kill(process.pid, 'SIGKILL');

  const ask = (exchange, method, params) =>
    new Promise((resolve) => {
      const id = `ask-${process.pid}-${(nextAsk += 1)}`;
      asked.set(id, resolve);
      exchange.send({ jsonrpc: '2.0', id, method, params });
    });

  /** Sends the answer of a tool call in the way that the fault says. */
  const deliver = async (exchange, message, modern, { fault, ms, bytes, key }) => {
    const result = textOf(`done ${key}`);
    const right = answerOf(message, modern, result);
    const token = message.params?._meta?.progressToken;
    switch (fault) {
      case 'slow':
        await sleep(ms);
        return exchange.send(right);
      case 'progress':
        for (let progress = 1; progress <= 5; progress++) {
          await sleep(ms / 5);
          if (token !== undefined)
            exchange.send({
              jsonrpc: '2.0',
              method: 'notifications/progress',
              params: { progressToken: token, progress, total: 5 },
            });
        }
        return exchange.send(right);
      case 'hang':
        return undefined;
      case 'freeze':
        return process.kill(process.pid, 'SIGSTOP');
      case 'crash':
        return die();
      case 'partial':
        await exchange.partial(JSON.stringify(right).slice(0, 20));
        return die();
      case 'garbage':
        return exchange.garbage(
          ['debug: connected', '{"half":', '42', 'null', '[]', '{"jsonrpc":"2.0"}', '', '\u{fffd}'],
          right,
        );
      case 'oversized':
        return exchange.send(answerOf(message, modern, textOf('x'.repeat(bytes))));
      case 'wrong_id':
        return exchange.send({ ...right, id: `${message.id}-of-another` });
      case 'wrong_id_then_right':
        for (const id of [`${message.id}`, 987_654_321, -1, 1.5])
          if (id !== message.id)
            exchange.send({ ...answerOf(message, modern, textOf('of another')), id });
        return exchange.send(right);
      case 'duplicate':
        exchange.send(right);
        return exchange.send(answerOf(message, modern, textOf(`twice ${key}`)));
      case 'null_id':
        return exchange.send({ ...errorOf(message, -32603, 'no id'), id: null });
      case 'null_id_then_right':
        exchange.send({ ...errorOf(message, -32603, 'no id'), id: null });
        return exchange.send(right);
      case 'rpc_error':
        return exchange.send(errorOf(message, -32603, 'the server failed'));
      case 'both':
        return exchange.send({ ...right, error: { code: -32603, message: 'and a result' } });
      case 'neither':
        return exchange.send({ jsonrpc: '2.0', id: message.id });
      case 'no_result_type':
        return exchange.send({ jsonrpc: '2.0', id: message.id, result });
      case 'is_error':
        return exchange.send(
          answerOf(message, modern, { ...textOf('the tool failed'), isError: true }),
        );
      case 'rate_limited':
        return exchange.send(
          answerOf(message, modern, {
            ...textOf(`rate limit exceeded. Retry after ${ms}ms`),
            isError: true,
          }),
        );
      case 'leak':
        console.error(`token ${process.env.CHAOS_TOKEN}`);
        return exchange.send(
          errorOf(message, -32603, `the token ${process.env.CHAOS_TOKEN} is invalid`),
        );
      case 'list_changed':
        changeTools();
        return exchange.send(right);
      default:
        return faults.http.includes(fault)
          ? exchange.fail(fault, right, { ms })
          : exchange.send(right);
    }
  };

  const changeTools = () => {
    state.added += 1;
    for (const notify of listeners)
      notify({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
  };

  const callTool = async (exchange, message, modern) => {
    const { name, arguments: args = {}, inputResponses } = message.params;
    const { key = '', fault: wanted = 'none', times = Infinity, ms = 0, bytes = 0 } = args;
    if (!toolsOf({ changed, ...state }).some((tool) => tool.name === name))
      return exchange.send(errorOf(message, -32602, `Unknown tool: ${name}`));
    const failing = wanted === 'none' ? false : world.arrivals(key) < times;
    world.arrive(name, key);
    const fault = failing ? wanted : 'none';
    if (name === 'lookup')
      return exchange.send(
        answerOf(message, modern, {
          ...textOf(JSON.stringify({ effects: world.effectsOf(key) })),
          structuredContent: { effects: world.effectsOf(key) },
        }),
      );
    if (name === 'change_tools') {
      changeTools();
      return exchange.send(answerOf(message, modern, textOf('changed')));
    }
    if (name === 'ask') {
      const { method, count = 1 } = args;
      if (modern) {
        if (inputResponses !== undefined)
          return exchange.send(answerOf(message, modern, textOf(JSON.stringify(inputResponses))));
        return exchange.send(
          answerOf(message, modern, {
            resultType: 'input_required',
            inputRequests: { first: { method, params: askParams(method) } },
            requestState: 'chaos',
          }),
        );
      }
      const answers = await Promise.all(
        Array.from({ length: count }, () => ask(exchange, method, askParams(method))),
      );
      return exchange.send(answerOf(message, modern, textOf(JSON.stringify(answers))));
    }
    if (fault === 'crash_before') return die();
    // A rate limit rejects a call before it has an effect.
    if (['write', 'put', 'unmarked'].includes(name) && fault !== 'http_429')
      world.perform(name, key);
    return deliver(exchange, message, modern, { fault, ms, bytes, key });
  };

  const others = {
    'server/discover': () => ({
      supportedVersions: [modernVersion],
      capabilities,
      serverInfo,
      ttlMs: 0,
      cacheScope: 'private',
    }),
    initialize: ({ protocolVersion }) => ({
      protocolVersion: legacyVersions.includes(protocolVersion)
        ? protocolVersion
        : legacyVersions[0],
      capabilities,
      serverInfo,
    }),
    ping: () => ({}),
    'logging/setLevel': ({ level }) => {
      state.level = level;
      return {};
    },
    'tools/list': (_, modern) => ({
      tools: toolsOf({ changed, ...state }),
      ...(modern && { ttlMs: 0, cacheScope: 'private' }),
    }),
    'resources/list': (_, modern) => ({
      resources: [{ uri: 'chaos://state', name: 'state' }],
      ...(modern && { ttlMs: 0, cacheScope: 'private' }),
    }),
    'resources/read': ({ uri }, modern) => ({
      contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(state) }],
      ...(modern && { ttlMs: 0, cacheScope: 'private' }),
    }),
    'prompts/list': (_, modern) => ({
      prompts: [{ name: 'greeting' }],
      ...(modern && { ttlMs: 0, cacheScope: 'private' }),
    }),
    'prompts/get': () => ({
      messages: [{ role: 'user', content: { type: 'text', text: 'hello' } }],
    }),
  };

  const handle = async (exchange, message) => {
    const modern = isModern(message);
    const { method, params } = message;
    if (method === undefined) {
      asked.get(message.id)?.(message.result ?? message.error);
      return;
    }
    if (message.id === undefined) return; // a notification
    const refused = modern ? options.era === 'legacy' : options.era === 'modern';
    if (refused) exchange.send(errorOf(message, modern ? -32601 : -32022, 'wrong revision'));
    else if (method === 'tools/call') await callTool(exchange, message, modern);
    else if (method === 'subscriptions/listen') exchange.listen?.(message, listeners);
    else if (others[method] === undefined)
      exchange.send(errorOf(message, -32601, `Unknown method: ${method}`));
    else exchange.send(answerOf(message, modern, others[method](params ?? {}, modern)));
  };

  return { handle, listeners, startNumber };
};

const askParams = (method) => {
  if (method === 'sampling/createMessage')
    return {
      messages: [{ role: 'user', content: { type: 'text', text: 'question' } }],
      maxTokens: 10,
    };
  if (method === 'elicitation/create')
    return {
      mode: 'form',
      message: 'question',
      requestedSchema: { type: 'object', properties: { answer: { type: 'string' } } },
    };
  return {};
};
