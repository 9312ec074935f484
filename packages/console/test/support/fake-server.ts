import { createHash } from 'node:crypto';
import { readFileSync, existsSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { extname, join } from 'node:path';
import { files } from '@toolkeel/console';
import type {
  ActRequest,
  ActResponse,
  Action,
  ApprovalSummary,
  AuditRow,
  CallSummary,
  ConsoleEvent,
  ErrorResponse,
  Operation,
  Preview,
} from '../../src/api/types.js';
import {
  callResponse,
  consequencesOf,
  evidenceOf,
  explained,
  policy,
  replayed,
  session,
  toolList,
} from './answers.js';
import { incident } from './incident.js';
import { calls as makeCalls } from './incident-calls.js';
import { listed, summaryOf } from './incident-operations.js';

/** As `/api` documents it. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
  "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export interface FakeServer {
  readonly url: string;
  /** Sends an event to all open pages. */
  readonly send: (event: ConsoleEvent) => void;
  /** Ended calls that the list shows; replaces those of the incident. */
  readonly addCalls: (count: number) => readonly CallSummary[];
  /** Records a call and tells all open pages. */
  readonly endCall: (call: CallSummary) => void;
  /** Closes every connection and refuses new ones until `start`. */
  readonly stop: () => Promise<void>;
  readonly start: () => Promise<void>;
  /** Keeps connections open, but says nothing any more. */
  readonly mute: () => void;
  /** Changes an operation behind the page's back. */
  readonly change: (id: string, change: Partial<Operation>) => void;
  /** The circuit's test is due: an approval executes at once. */
  readonly resume: () => void;
  /** Requests for the list of tools wait until the result is called. */
  readonly holdTools: () => () => void;
  readonly close: () => Promise<void>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** A typed imitation of the API with a prepared incident: for what a page shows, not for what a server does. */
export async function startFakeServer(): Promise<FakeServer> {
  const base = Date.now();
  const data = incident(base);
  const operations = new Map(data.operations.map((operation) => [operation.id, operation]));
  let ended: readonly CallSummary[] = data.calls;
  let events = 0;
  const streams = new Set<ServerResponse>();
  const sockets = new Set<Socket>();
  let isMuted = false;
  let isPaused = true;
  let toolsHeld: Promise<void> | undefined;

  const send = (event: ConsoleEvent, to: Iterable<ServerResponse> = streams): void => {
    events += 1;
    const text = `id: ${events}\nevent: ${event.type}\ndata: ${JSON.stringify(event.data)}\n\n`;
    if (!isMuted) for (const stream of to) stream.write(text);
  };
  const sendBeat = (to?: Iterable<ServerResponse>): void =>
    send({ type: 'beat', data: { at: new Date().toISOString() } }, to);
  const all = (): Operation[] => [...operations.values()];
  const waiting = (): ApprovalSummary[] =>
    all()
      .filter(({ state, approval }) => state === 'awaiting_approval' && !approval?.decision)
      .map(summaryOf)
      .toSorted((a, b) => a.expires_at.localeCompare(b.expires_at));
  const callsOf = (id: string): readonly CallSummary[] => {
    const own = ended.filter(({ operation_id: of }) => of === id);
    return own.length > 0 ? own : ended.slice(0, 2);
  };
  const auditOf = (id: string): AuditRow[] =>
    data.rows.filter(({ operation_id: of }) => of === id).toReversed();
  const versionOf = (operation: Operation): string =>
    createHash('sha256')
      .update(JSON.stringify([operation, isPaused]))
      .digest('hex')
      .slice(0, 12);
  const update = (operation: Operation): void => {
    operations.set(operation.id, operation);
    const isWaiting = operation.state === 'awaiting_approval';
    send({
      type: 'operations',
      data: { operations: [operation], approvals: isWaiting ? [summaryOf(operation)] : [] },
    });
  };

  const previewOf = (action: Action, operation: Operation): Preview => ({
    action: action.action,
    operation_id: operation.id,
    version: versionOf(operation),
    operation,
    ...(operation.arguments && {
      arguments: { ...operation.arguments, ...action.changes },
      hash: operation.approval?.hash ?? 'none',
    }),
    ...(action.changes && operation.arguments && { arguments_before: operation.arguments }),
    consequences: consequencesOf(action, operation, isPaused),
    ...textOf({ ...operation.arguments, ...action.changes }),
    checks: action.action.includes('approve')
      ? [
          { by: 'policy', result: 'passes', text: 'Policy allows it once it is approved.' },
          isPaused
            ? {
                by: 'circuit',
                result: 'blocks',
                text: 'Requests to x (api.x.com) fail (circuit open).',
                until: new Date(base + 21_000).toISOString(),
              }
            : { by: 'circuit', result: 'passes', text: 'The circuit is closed.' },
          { by: 'policy_limit', result: 'passes', text: 'No policy limit is reached.' },
          { by: 'rate_limit', result: 'passes', text: 'No known rate limit is used up.' },
          { by: 'retry_budget', result: 'passes', text: 'The retry budget allows retries.' },
          { by: 'process', result: 'passes', text: 'A live process has the tool.' },
        ]
      : [],
    audit: {
      kind: 'approval_decided',
      actor: 'ana',
      operation_id: operation.id,
      tool: operation.tool,
      account: operation.account,
      detail: {
        action: action.action,
        ...(action.reason !== undefined && { reason: action.reason }),
      },
    },
  });

  const act = (request: ActRequest): [number, ActResponse | ErrorResponse] => {
    const operation = operations.get(request.operation_id);
    if (!operation) return [404, failure('not_found', 'There is no such operation.')];
    if (request.version !== versionOf(operation)) {
      const decided = operation.approval?.decided_by ?? 'undecided';
      return [
        409,
        {
          ...failure('state_moved', 'The state has changed since the preview.'),
          operation,
          difference: [{ field: 'decision', was: 'undecided', is: decided }],
        },
      ];
    }
    const now = new Date().toISOString();
    if (request.action === 'check_upstream') {
      const explanation = 'The read-back failed. x (api.x.com) fails with a server error (503).';
      const read = { ...operation, blocked: { reason: 'read_back_failed', explanation, at: now } };
      // As the server, which sends no event for it.
      operations.set(operation.id, read);
      const text = `Still unknown: t${explanation.slice(1)}`;
      return [200, { action: request.action, operation: read, text, settled: false }];
    }
    const isRejection = request.action === 'reject' || request.action === 'it_did_not_happen';
    const changed: Operation = {
      ...operation,
      state: isRejection ? 'denied' : 'succeeded',
      settled_at: now,
      arguments: { ...operation.arguments, ...request.changes },
      ...(operation.approval && {
        approval: {
          ...operation.approval,
          decision: isRejection ? ('rejected' as const) : ('approved' as const),
          decided_by: 'ana',
          decided_at: now,
          ...(request.reason !== undefined && { reason: request.reason }),
        },
      }),
      ...(!isRejection && { answer: { data: request.data ?? { id: '18499' } } }),
    };
    update(changed);
    const text = isRejection ? 'Rejected. The agent gets your reason.' : 'Done.';
    return [200, { action: request.action, operation: changed, text }];
  };

  const routes = async (
    path: string,
    query: URLSearchParams,
    body: unknown,
  ): Promise<[number, unknown]> => {
    const [, first = '', id = ''] = /^\/api\/(\w+)(?:\/(.+))?$/.exec(path) ?? [];
    const operation = operations.get(id);
    switch (first) {
      case 'session':
        return [200, session(base)];
      case 'snapshot':
        return [
          200,
          {
            cursor: String(events),
            now: { ...data.now, at: new Date().toISOString() },
            processes: data.processes,
            in_flight: data.inFlight,
            calls: ended.slice(0, 200),
            unknown: all()
              .filter(({ state }) => state === 'unknown')
              .map(listed),
            approvals: waiting(),
            audit: data.audit,
          },
        ];
      case 'metrics':
        return [200, data.series];
      case 'calls': {
        if (id !== '') return [200, callResponse(base, ended, data.inFlight, id)];
        const before = Number(query.get('before') ?? Infinity);
        const limit = Number(query.get('limit') ?? 100);
        const page = ended
          .filter((call) => call.seq < before && matches(call, query))
          .slice(0, limit);
        const last = page.at(-1)?.seq;
        const hasMore = page.length === limit && last !== undefined;
        return [
          200,
          { calls: page, in_flight: data.inFlight, ...(hasMore && { next: String(last) }) },
        ];
      }
      case 'operations':
        if (id === '') {
          const states = query.get('state')?.split(',');
          const since = query.get('since') === '1h' ? base - 3_600_000 : 0;
          const found = all()
            .filter(({ state }) => states?.includes(state) ?? true)
            .filter(({ created_at: at }) => Date.parse(at) >= since)
            .toSorted((a, b) => b.created_at.localeCompare(a.created_at));
          return [200, { operations: found.map(listed) }];
        }
        if (!operation) return [404, failure('not_found', 'There is no such operation.')];
        return [200, evidenceOf(operation, callsOf(id), auditOf(id))];
      case 'approvals': {
        if (id === '') {
          const expired = all()
            .filter(({ state }) => state === 'expired')
            .map(summaryOf);
          return [200, { approvals: waiting(), expired }];
        }
        if (!operation) return [404, failure('not_found', 'There is no such approval.')];
        return [200, approvalOf(operation)];
      }
      case 'preview': {
        const action = body as Action;
        const target = operations.get(action.operation_id);
        return target
          ? [200, previewOf(action, target)]
          : [404, failure('not_found', 'There is no such operation.')];
      }
      case 'actions':
        return act(body as ActRequest);
      case 'tools':
        await toolsHeld;
        return id === ''
          ? [200, toolList()]
          : [200, { envelope: { success: true, data: { items: [] } } }];
      case 'policy':
        return [200, id === 'explain' ? explained() : id === 'replay' ? replayed(base) : policy()];
      case 'audit':
        return [200, id === 'rows' ? { rows: data.rows } : data.audit];
      default:
        return [404, failure('not_found', 'No such route.')];
    }
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://x');
    if (pathname === '/api/events') {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
      response.write(': open\n\n');
      streams.add(response);
      sendBeat([response]);
      response.on('close', () => streams.delete(response));
      return;
    }
    if (pathname.startsWith('/api/')) {
      const [status, answer] = await routes(pathname, searchParams, await readJson(request));
      response.writeHead(status, {
        'content-type': 'application/json',
        'cache-control': 'no-store',
      });
      response.end(JSON.stringify(answer));
      return;
    }
    serveFile(pathname, response);
  };

  const server = createServer((request, response) => void handle(request, response));
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  const listen = (port: number): Promise<void> =>
    new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const beat = setInterval(sendBeat, 1000);
  const stop = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return {
    url: `http://127.0.0.1:${port}`,
    send,
    endCall: (call) => {
      ended = [call, ...ended];
      send({ type: 'calls', data: { calls: [call] } });
    },
    addCalls: (count) => {
      ended = makeCalls(Date.now(), count);
      return ended;
    },
    stop,
    start: () => listen(port),
    mute: () => {
      isMuted = true;
    },
    change: (id, change) => {
      const operation = operations.get(id);
      if (operation) operations.set(id, { ...operation, ...change });
    },
    resume: () => {
      isPaused = false;
      send({ type: 'processes', data: { processes: [...data.processes] } });
    },
    holdTools: () => {
      let release = (): void => undefined;
      toolsHeld = new Promise((resolve) => {
        release = resolve;
      });
      return release;
    },
    close: async () => {
      clearInterval(beat);
      await stop();
    },
  };
}

const failure = (code: ErrorResponse['error']['code'], message: string): ErrorResponse => ({
  error: { code, message, what_to_do: 'Look at it again.' },
});

function matches(call: CallSummary, query: URLSearchParams): boolean {
  const [q, tool, code] = ['q', 'tool', 'code'].map((name) => query.get(name) ?? '');
  if (tool !== '' && call.tool !== tool) return false;
  if (code === 'failed' ? call.code === 'ok' : code !== '' && call.code !== code) return false;
  return `${call.tool} ${call.code} ${call.correlation_id}`.includes(q ?? '');
}

function textOf(args: Readonly<Record<string, unknown>>): { text?: Preview['text'] & object } {
  const { text: value } = args;
  if (typeof value !== 'string') return {};
  return {
    text: { argument: 'text', value, kind: 'post', length: [...value].length, max_length: 280 },
  };
}

function approvalOf(operation: Operation): unknown {
  const { arguments: args = {}, approval, state } = operation;
  const isOpen = state === 'awaiting_approval' && !approval?.decision;
  return {
    approval: operation,
    arguments: args,
    masked: [],
    input_schema: {
      type: 'object',
      properties: Object.fromEntries(
        Object.entries(args).map(([name, value]) => [
          name,
          typeof value === 'string'
            ? { type: 'string', maxLength: name === 'title' ? 100 : 400 }
            : { type: 'array' },
        ]),
      ),
      required: [Object.keys(args)[0]],
    },
    ...textOf(args),
    actions: isOpen ? ['approve', 'edit', 'edit_and_approve', 'reject'] : [],
    ...(state === 'expired' && {
      next_step:
        'It was not executed. If it is still wanted, let the agent call the tool again: a new approval appears.',
    }),
  };
}

function serveFile(path: string, response: ServerResponse): void {
  const wanted = join(files(), path);
  const isFile = wanted.startsWith(files()) && existsSync(wanted) && statSync(wanted).isFile();
  const file = isFile ? wanted : join(files(), 'index.html');
  response.writeHead(200, {
    'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
    'content-security-policy': CONTENT_SECURITY_POLICY,
    'x-content-type-options': 'nosniff',
  });
  response.end(readFileSync(file));
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text === '' ? undefined : (JSON.parse(text) as unknown);
}
