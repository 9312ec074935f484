import { PROTOCOL_VERSION_META_KEY, type JSONRPCMessage } from '@modelcontextprotocol/server';

/** Deprecated in the protocol, but the SDK still validates it. */
const RELATED_TASK = 'io.modelcontextprotocol/related-task';
/** The limit of the SDK's HTTP transport. */
const MAX_BATCH = 100;

/** A JSON-RPC error response to a message that the server cannot process. */
export interface RefusalResponse {
  readonly jsonrpc: '2.0';
  readonly id: string | number | null;
  readonly error: { readonly code: number; readonly message: string };
}

/** A parsed message or batch, or the reason why it was refused. */
export type Inbound =
  | { readonly ok: true; readonly value: JSONRPCMessage | JSONRPCMessage[] }
  | {
      readonly ok: false;
      readonly refusal: RefusalResponse;
      /** False for notifications and responses: JSON-RPC forbids answering them. */
      readonly expectsAnswer: boolean;
      /** The ids of the requests in a batch, for a transport that answers each of them. */
      readonly batchIds: readonly (string | number)[];
    };

/** What messages may be, beyond what the schemas of the SDK accept. */
export interface InboundRules {
  /** Members that JSON-RPC does not name, and ids with a fraction: for who passes messages on. */
  readonly isLenient: boolean;
}

const STRICT: InboundRules = Object.freeze({ isLenient: false });

/**
 * Parses and validates JSON-RPC for every transport, so that they refuse the same messages with the
 * same errors. It accepts what the schemas of the SDK accept, in a fraction of their time: the SDK
 * validates each message anyway, but drops invalid ones on stdio without an answer.
 */
export function parseInbound(text: string, rules: InboundRules = STRICT): Inbound {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refuse(null, -32_700, 'Parse error: Invalid JSON');
  }
  const flaw = Array.isArray(value) ? batchFlaw(value, rules) : messageFlaw(value, rules);
  if (flaw === undefined) return { ok: true, value: value as JSONRPCMessage };
  const expectsAnswer = isAnswered(value);
  const id = expectsAnswer ? idOf(value) : null;
  const refused = refuse(id, -32_600, `Invalid Request: ${flaw}`);
  const batchIds = Array.isArray(value) ? idsIn(value) : NO_IDS;
  return { ...refused, expectsAnswer, batchIds };
}

const NO_IDS: readonly never[] = [];

function refuse(id: RefusalResponse['id'], code: number, message: string) {
  const refusal: RefusalResponse = { jsonrpc: '2.0', id, error: { code, message } };
  return { ok: false, refusal, expectsAnswer: true, batchIds: NO_IDS } as const;
}

function idsIn(batch: readonly unknown[]): readonly (string | number)[] {
  return [
    ...new Set(batch.flatMap((message) => (isAnswered(message) ? (idOf(message) ?? []) : []))),
  ];
}

type Members = Readonly<Record<string, unknown>>;

/** Protocol revisions from 2026 on have no batches; the earlier ones cannot open a session in one. */
function batchFlaw(batch: readonly unknown[], rules: InboundRules): string | undefined {
  if (batch.length === 0) return 'the batch is empty';
  if (batch.length > MAX_BATCH) return `a batch can have at most ${MAX_BATCH} messages`;
  for (const message of batch) {
    const flaw = messageFlaw(message, rules);
    if (flaw !== undefined) return `the batch has an invalid message: ${flaw}`;
    const { method, params } = message as Members;
    const meta = isObject(params) && isObject(params['_meta']) ? params['_meta'] : {};
    if (PROTOCOL_VERSION_META_KEY in meta) return 'this protocol revision has no batches';
    if (method === 'initialize') return 'initialize cannot be part of a batch';
  }
  return undefined;
}

function messageFlaw(message: unknown, { isLenient }: InboundRules): string | undefined {
  if (!isObject(message)) return 'the message must be an object';
  if (message['jsonrpc'] !== '2.0') return 'jsonrpc must be "2.0"';
  const { id } = message;
  if (isInexact(id)) return 'id must be a string or a number of at most 2^53 - 1';
  if ('id' in message && !(isLenient ? isScalarId(id) : isId(id))) {
    return 'id must be a string or an integer';
  }
  const kind = ['method', 'result', 'error'].find((name) => name in message);
  if (kind === undefined) return 'method is missing';
  if (!isLenient && !hasOnly(message, MEMBERS[kind]!)) {
    return kind === 'method'
      ? 'a request can only have the members jsonrpc, id, method and params'
      : 'the response is malformed';
  }
  if (kind === 'method') return requestFlaw(message);
  return kind === 'result' ? resultFlaw(message) : errorFlaw(message);
}

function requestFlaw(message: Members): string | undefined {
  if (typeof message['method'] !== 'string') return 'method must be a string';
  const params = message['params'];
  if (params === undefined) return undefined;
  if (!isObject(params)) return 'params must be an object';
  const meta = params['_meta'];
  if (meta === undefined) return undefined;
  if (!isObject(meta)) return 'params._meta must be an object';
  const token = meta['progressToken'];
  if (token !== undefined && !isId(token)) {
    return 'params._meta.progressToken must be a string or an integer';
  }
  const task = meta[RELATED_TASK];
  if (task === undefined || (isObject(task) && typeof task['taskId'] === 'string'))
    return undefined;
  return `params._meta["${RELATED_TASK}"] must have a taskId`;
}

function resultFlaw(message: Members): string | undefined {
  const { result } = message;
  if (!('id' in message) || !isObject(result)) return 'the response is malformed';
  const meta = result['_meta'];
  return meta === undefined || isObject(meta) ? undefined : 'result._meta must be an object';
}

function errorFlaw(message: Members): string | undefined {
  const { error } = message;
  const isValid =
    isObject(error) && Number.isSafeInteger(error['code']) && typeof error['message'] === 'string';
  return isValid ? undefined : 'the response is malformed';
}

/** The members of a message, by the one that says what it is. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = Object.freeze({
  method: ['jsonrpc', 'id', 'method', 'params'],
  result: ['jsonrpc', 'id', 'result'],
  error: ['jsonrpc', 'id', 'error'],
});

function hasOnly(message: Members, names: readonly string[]): boolean {
  return Object.keys(message).every((name) => names.includes(name));
}

/** Whether an invalid message may be a request. Responses are not answered: that could loop for ever. */
function isAnswered(value: unknown): boolean {
  if (!isObject(value)) return true;
  if ('method' in value) return 'id' in value;
  return !('result' in value) && !('error' in value);
}

/** The id of the message, if JSON-RPC allows an id of its type and it can be repeated exactly. */
function idOf(value: unknown): RefusalResponse['id'] {
  const id = isObject(value) ? value['id'] : null;
  return isScalarId(id) && !isInexact(id) ? id : null;
}

function isScalarId(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}

/** A number that was changed when it was parsed: a response would carry another id. */
function isInexact(id: unknown): boolean {
  return typeof id === 'number' && Math.abs(id) > Number.MAX_SAFE_INTEGER;
}

function isId(value: unknown): boolean {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
