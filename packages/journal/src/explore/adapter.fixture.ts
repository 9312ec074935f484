import {
  acceptControls,
  defineTool,
  runTool,
  upstreamCodes,
  type Arguments,
  type Envelope,
  type Reconcile,
  type Tool,
  type ToolContext,
} from '@toolkeel/contract';
import * as z from 'zod';
import type { Journal } from '../journal.js';
import type { ProcessClock } from './process.fixture.js';

/**
 * The only module here that depends on the journal's API: how a tool records its send, how a call is
 * made, and how its answer is delivered.
 */

/** Whether the journal or the handler records the send. */
export type HandlerMode = 'automatic' | 'explicit';

/** A process's connection to the upstream. */
export interface Wire {
  readonly send: (
    kind: Kind,
    subject: string,
    mode: HandlerMode,
    context: ToolContext,
  ) => Promise<{ readonly id: string }>;
  /** A handler in explicit mode can fail before it records the send. */
  readonly prepare: () => void;
  readonly readBack: Reconcile['readBack'];
}

export type Kind = 'note' | 'erase';

export const TEMPLATE = { note: 'note:{topic}' };
/** The upstream ignores trailing blanks. */
export const normalise = (text: string): string => text.trimEnd();

const text = z.string();
const base = {
  title: 'Test',
  description: 'Tests.',
  category: 'write',
  profiles: ['api', 'workflow'],
  output: z.object({ id: text }),
  errors: upstreamCodes,
  // Replaced per process.
  handler: () => ({ id: '' }),
} as const;

const define = (send: HandlerMode): readonly Tool[] => [
  defineTool({
    ...base,
    name: 'note',
    effect: 'once',
    send,
    input: z.object({ topic: text, text }),
    normalize: (args) => ({ ...args, text: normalise(args.text) }),
  }),
  defineTool({
    ...base,
    name: 'erase',
    effect: 'idempotent',
    send,
    inverse: {
      of: 'note',
      matches: ({ id }, { data }) => (data as { id?: string } | undefined)?.id === id,
    },
    input: z.object({ id: text }),
  }),
];
const DEFINED = {
  automatic: define('automatic').map((tool) => acceptControls(tool)),
  explicit: define('explicit').map((tool) => acceptControls(tool)),
};
/** Two configured names of one user. */
const ACCOUNT = { id: 'upstream:1' } as const;
const accountId = (): typeof ACCOUNT => ACCOUNT;

/** The tools of a process that is logged in under a configured name. */
export function toolsFor(
  wire: Wire,
  mode: HandlerMode,
  account: string,
): ReadonlyMap<string, Tool> {
  const write = (kind: Kind, args: Arguments, context: ToolContext): Promise<unknown> =>
    wire.send(kind, normalise(String(args['text'] ?? args['id'])), mode, context);
  const handlers: Readonly<Record<HandlerMode, (kind: Kind) => Tool['handler']>> = {
    // Does not use the journal's API.
    automatic: (kind) => (args, context) => write(kind, args, context),
    explicit: (kind) => (args, context) => {
      wire.prepare();
      return context.operation!.send(() => write(kind, args, context));
    },
  };
  const { readBack } = wire;
  return new Map(
    DEFINED[mode].map((tool) => {
      const handler = handlers[mode](tool.name as Kind);
      const reconcile = tool.name === 'note' && { authoritative: false, readBack };
      return [tool.name, { ...tool, account, accountId, handler, ...(reconcile && { reconcile }) }];
    }),
  );
}

export interface Answer {
  readonly envelope: Envelope;
  /** Called when the transport has written the answer completely; never for a lost answer. */
  readonly delivered: () => void;
}

/** One call, as a host makes it. */
export async function makeCall(
  { journal, clock, signal }: Caller,
  tool: Tool,
  args: object,
  correlationId: string,
): Promise<Answer> {
  const deadline = clock.now() + CALL_MS;
  const marks: (() => void)[] = [];
  const onDelivered = (mark: () => void): void => void marks.push(mark);
  const callContext = { deadline, meta: {}, signal, hold: () => undefined, onDelivered };
  const { envelope } = await runTool(tool, args, {
    clock,
    correlationId,
    deadline: deadline + 10,
    middleware: (accepted, next) =>
      journal.middleware(
        accepted,
        (extra) => next({ deadline, signal, onDelivered, ...extra }),
        callContext,
      ),
  });
  return { envelope, delivered: () => marks.forEach((mark) => mark()) };
}

interface Caller {
  readonly journal: Journal;
  readonly clock: ProcessClock;
  readonly signal: AbortSignal;
}

/** Interval at which a process records deliveries: FLUSH_MS of flow/deliveries.ts. */
export const RECORDED_MS = 250;
/** Timeout of a call. */
export const CALL_MS = 15_000;
