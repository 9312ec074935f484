import {
  acceptControls,
  defineTool,
  toolError,
  upstreamCodes,
  type Reconcile,
  type StepReadBack,
  type Tool,
  type ToolContext,
} from '@toolkeel/contract';
import { FaultError, type Clock } from '@toolkeel/kernel';
import * as z from 'zod';
import type { Wire } from './upstream.fixture.js';

/** A request that nobody waits for any more is still acted upon by the upstream, but not for long. */
const ACTS_WITHIN_MS = 500;

const text = z.string();
const target = z.object({ id: text });

const base = {
  title: 'Test',
  description: 'Tests.',
  category: 'write',
  effect: 'once',
  profiles: ['api', 'workflow'],
  output: z.object({ id: text }),
  errors: upstreamCodes,
  // What a tool really does is given to it by each process.
  handler: () => ({ id: '' }),
} as const;

const looks: Reconcile = {
  authoritative: false,
  actsWithinMs: ACTS_WITHIN_MS,
  readBack: () => Promise.resolve({ found: 'unknown' }),
};
const posting = { ...base, input: z.object({ text, media: z.array(text).optional() }) } as const;
const threading = {
  ...base,
  input: z.object({ posts: z.array(text).min(1) }),
  output: z.object({ ids: z.array(text) }),
  partial: z.object({ ids: z.array(text) }),
  errors: [...upstreamCodes, 'thread_partial_failure'],
  handler: () => ({ ids: [] }),
} as const;

/** The tools of a small network, one for each way in which an upstream can be asked. */
const plain: readonly Tool[] = [
  // Nobody can look whether it happened.
  defineTool({ ...posting, name: 'post' }),
  // One can look, and what is not there may still come.
  { ...defineTool({ ...posting, name: 'post_seen' }), reconcile: looks },
  // One can look, and what is not there after a while did not happen.
  {
    ...defineTool({ ...posting, name: 'post_sure' }),
    reconcile: { ...looks, authoritative: true },
  },
  defineTool({
    ...base,
    name: 'post_as',
    input: z.object({ account: text.default('main'), text }),
    account: ({ account }) => account,
  }),
  defineTool({ ...base, name: 'reply', key: 'reply:{to}', input: z.object({ to: text, text }) }),
  defineTool({
    ...base,
    name: 'pay',
    sensitive: ['card'],
    input: z.object({ card: text, amount: z.number() }),
    estimateCost: ({ amount }) => ({ amount, unit: 'EUR' }),
  }),
  defineTool({ ...base, name: 'like', effect: 'idempotent', window: 30_000, input: target }),
  defineTool({ ...base, name: 'touch', effect: 'idempotent', input: target }),
  defineTool({
    ...base,
    name: 'unlike',
    effect: 'idempotent',
    inverse: { of: 'like' },
    input: target,
  }),
  defineTool({
    ...base,
    name: 'delete',
    effect: 'idempotent',
    inverse: {
      of: ['post', 'reply'],
      matches: ({ id }, { data }) => (data as { id?: string }).id === id,
    },
    input: target,
  }),
  defineTool({ ...threading, name: 'thread' }),
  defineTool({ ...threading, name: 'thread_blind' }),
];
const definitions = plain.map((tool) => acceptControls(tool));

interface Deps {
  readonly wire: Wire;
  readonly clock: Clock;
}

/** The tools as one process has them. */
export function toolsOf(wire: Wire, clock: Clock): readonly Tool[] {
  const deps = { wire, clock };
  return definitions.map((tool) => {
    const { name, reconcile } = tool;
    if (name === 'thread') return { ...tool, handler: thread(deps, name, true) };
    if (name === 'thread_blind') return { ...tool, handler: thread(deps, name, undefined) };
    return {
      ...tool,
      handler: (args, context) => write(deps, context, name, subjectOf(args)),
      ...(reconcile && { reconcile: { ...reconcile, readBack: lookFor(wire, name) } }),
    };
  });
}

function subjectOf(args: Readonly<Record<string, unknown>>): string {
  const { account, to, amount, id } = args;
  const subject = to ?? amount ?? id ?? args['text'];
  return account === undefined ? String(subject) : `${String(account)}/${String(subject)}`;
}

/** As a client would: the write, given up when the handler's time is over. */
async function write(
  { wire, clock }: Deps,
  context: ToolContext,
  kind: string,
  subject: string,
): Promise<{ id: string }> {
  await context.operation?.sending();
  const left = context.deadline - clock.now();
  let timer: unknown;
  const timeUp = new Promise<never>((_, reject) => {
    if (!Number.isFinite(left)) return;
    timer = clock.setTimer(left, () =>
      reject(new FaultError({ kind: 'timeout', clock: 'deadline', sent: 'maybe' })),
    );
  });
  try {
    const { id } = await Promise.race([wire.send(kind, subject, context.operation?.id), timeUp]);
    return { id };
  } finally {
    if (timer !== undefined) clock.clearTimer(timer);
  }
}

function lookFor(wire: Wire, kind: string): Reconcile['readBack'] {
  return async ({ args, sentAt }) => {
    const found = await wire.find(kind, subjectOf(args), sentAt);
    return found ? { found: 'executed', data: { id: found.id } } : { found: 'absent' };
  };
}

/** Posts one after the other. `authoritative`: what a look at the upstream is worth, if there is one. */
function thread(deps: Deps, name: string, authoritative: boolean | undefined): Tool['handler'] {
  const lookAt = (post: string): StepReadBack<{ id: string }> | undefined =>
    authoritative === undefined
      ? undefined
      : {
          authoritative,
          actsWithinMs: ACTS_WITHIN_MS,
          readBack: async ({ sentAt }) => {
            const found = await deps.wire.find(name, post, sentAt);
            return found ? { found: 'executed', data: { id: found.id } } : { found: 'absent' };
          },
        };
  return async (args, context) => {
    const ids: string[] = [];
    for (const [index, post] of (args['posts'] as readonly string[]).entries()) {
      const run = () => write(deps, context, name, post);
      try {
        const { operation } = context;
        const posted = await (operation
          ? operation.step(`post ${index}`, run, lookAt(post))
          : run());
        ids.push(posted.id);
      } catch (cause) {
        if (index === 0 || !(cause instanceof FaultError)) throw cause;
        const { sent, kind } = cause.fault;
        const isOpen = sent !== 'no' && kind !== 'rate_limited' && kind !== 'auth';
        return toolError('thread_partial_failure', 'It stopped half way. Call it again.', {
          data: { ids },
          details: { posted: index, failed_at_index: index },
          ...(isOpen && { outcome: 'unknown' }),
        });
      }
    }
    return { ids };
  };
}

export function toolNamed(name: string): Tool {
  const found = definitions.find((tool) => tool.name === name);
  if (!found) throw new Error(`no tool ${name}`);
  return found;
}
