import { elementTexts, inexactNumbers, rewriteJson } from './json-text.js';

export type Id = string | number;

type Members = Readonly<Record<string, unknown>>;

/** A JSON-RPC message, as far as a router needs to know it. */
export interface Message {
  readonly jsonrpc: '2.0';
  readonly id?: Id | null;
  readonly method?: string;
  readonly params?: Members;
  readonly result?: Members;
  readonly error?: RpcError;
}

interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** A message and the line that contained it. Messages that are passed on unchanged keep their line. */
export interface Frame {
  readonly message: Message;
  /** Without a line break. */
  readonly line: string;
  /** When it came from the client, on the clock of `performance.now()`, if it had to wait since. */
  readonly arrivedAt?: number;
}

export interface RequestFrame extends Frame {
  readonly message: Message & { readonly id: Id; readonly method: string };
}

export interface ResponseFrame extends Frame {
  readonly message: Message & { readonly id: Id };
}

/** A frame of the guard; with `origin` one of another that it changes: the rest keeps its text. */
export function frameOf(message: Message, origin?: Frame): Frame {
  const line = origin ? rewriteJson(message, origin.message, origin.line) : JSON.stringify(message);
  return { message, line };
}

/** Writes a part of a frame, or what was made from it, as JSON that keeps the numbers of the frame. */
export function writerOf({ message, line }: Frame): (value: unknown) => string {
  const isExact = inexactNumbers(line).length === 0;
  return isExact ? JSON.stringify : (value) => rewriteJson(value, message, line);
}

/** The frames of a batch. */
export function framesOf(messages: readonly Message[], line: string): readonly Frame[] {
  const lines = elementTexts(line);
  return messages.map((message, at) => ({ message, line: lines[at] ?? JSON.stringify(message) }));
}

/** On stdio a frame is one line. A line break is nothing but space in JSON. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\r\n]+/g, ' ');
}

/**
 * Reads a line of an upstream. A batch, which revision 2025-03-26 allows, yields several frames.
 * Undefined if the line is no JSON-RPC: many servers also print their log to stdout.
 */
export function parseLine(line: string): readonly Frame[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!Array.isArray(value)) return isMessage(value) ? [{ message: value, line }] : undefined;
  return value.every(isMessage) && value.length > 0 ? framesOf(value, line) : undefined;
}

export function isRequest(frame: Frame): frame is RequestFrame {
  const { method, id } = frame.message;
  return method !== undefined && id !== undefined && id !== null;
}

/** A response to a known request. An error with the id null belongs to none. */
export function isResponse(frame: Frame): frame is ResponseFrame {
  const { method, id } = frame.message;
  return method === undefined && id !== undefined && id !== null;
}

export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object in a member of an object; empty if there is none. */
export function objectIn(value: unknown, name: string): Members {
  const member = isObject(value) ? value[name] : undefined;
  return isObject(member) ? member : NOTHING;
}

const NOTHING: Members = Object.freeze({});

function isMessage(value: unknown): value is Message {
  if (!isObject(value) || value['jsonrpc'] !== '2.0') return false;
  const { id, method, params } = value;
  if (id !== undefined && id !== null && typeof id !== 'string' && typeof id !== 'number') {
    return false;
  }
  if (method !== undefined)
    return typeof method === 'string' && (params === undefined || isObject(params));
  const { result, error } = value;
  if (id === undefined) return false;
  return error === undefined ? isObject(result) : isRpcError(error) && result === undefined;
}

function isRpcError(error: unknown): error is RpcError {
  return (
    isObject(error) && typeof error['code'] === 'number' && typeof error['message'] === 'string'
  );
}

/** Requests that change nothing: repeated if their upstream is lost. */
const SAFE_METHODS: ReadonlySet<string> = new Set([
  'initialize',
  'server/discover',
  'ping',
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
]);

export function isSafeMethod(method: string): boolean {
  return SAFE_METHODS.has(method);
}

/** Requests whose answer comes when something else ends: at the end of a subscription or a task. */
const OPEN_ENDED: ReadonlySet<string> = new Set(['subscriptions/listen', 'tasks/result']);

export function isOpenEnded(method: string): boolean {
  return OPEN_ENDED.has(method);
}
