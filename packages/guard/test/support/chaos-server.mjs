// An MCP server on stdio that misbehaves on request. Effects are lines of the file CHAOS_LOG.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';

const log = process.env['CHAOS_LOG'] ?? '';
const write = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (value) => ({ content: [{ type: 'text', text: value }] });
const effects = () =>
  existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean) : [];

const behaviours = {
  crash: () => process.exit(7),
  crashOnce: (id, n) =>
    effects().filter((one) => one === n).length > 1 ? undefined : process.exit(7),
  hang: () => process.stdin.pause() && true,
  garbage: () => void process.stdout.write('not json\n{"jsonrpc":"1.0"}\n\n{"half":\n'),
  wrongId: () => void write({ id: 'nobody', result: text('wrong') }),
  nullId: () => void write({ id: null, error: { code: -32603, message: 'lost' } }),
  huge: (id) => write({ id, result: text('x'.repeat(11 * 1024 * 1024)) }) || true,
  twice: (id) => void write({ id, result: text('first') }),
  listChange: () => void write({ method: 'notifications/tools/list_changed' }),
};

const handle = ({ id, method, params }) => {
  if (method === 'initialize') {
    const { protocolVersion } = params;
    return {
      protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'chaos', version: '1' },
    };
  }
  if (method === 'tools/list') {
    const read = {
      name: 'get',
      inputSchema: { type: 'object' },
      annotations: { readOnlyHint: true },
    };
    return { tools: [read, { name: 'add', inputSchema: { type: 'object' } }] };
  }
  if (method !== 'tools/call') return {};
  const { n = '', how = 'fine' } = params.arguments ?? {};
  if (log !== '') appendFileSync(log, `${n}\n`);
  if (behaviours[how]?.(id, String(n)) === true) return undefined;
  return text(`${params.name} ${n}`);
};

let rest = '';
const receive = (chunk) => {
  rest += chunk;
  const lines = rest.split('\n');
  rest = lines.pop() ?? '';
  for (const line of lines) {
    const message = JSON.parse(line);
    if (message.id === undefined || message.method === undefined) continue;
    const result = handle(message);
    if (result !== undefined) write({ id: message.id, result });
  }
};
setTimeout(
  () => process.stdin.setEncoding('utf8').on('data', receive),
  Number(process.env['CHAOS_SLOW'] ?? 0),
);
if (process.env['CHAOS_STUBBORN']) {
  process.on('SIGTERM', () => {});
  setInterval(() => {}, 1000);
} else process.stdin.on('end', () => process.exit(0));
