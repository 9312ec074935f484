import {
  defineTool,
  toolError,
  upstreamCodes,
  type Reconcile,
  type Tool,
  type ToolContext,
} from '@toolkeel/contract';
import { FaultError, type Clock } from '@toolkeel/kernel';
import * as z from 'zod';
import type { Wire } from './upstream.fixture.js';

const done = z.object({ id: z.string() });

const base = {
  title: 'Test',
  description: 'Tests.',
  category: 'write',
  profiles: ['api', 'workflow'],
  output: done,
  errors: upstreamCodes,
} as const;

/** As a client would: the write, given up when the handler's time is over. */
async function write(
  { wire, clock }: Deps,
  context: ToolContext,
  kind: string,
  subject: string,
): Promise<{ id: string }> {
  await context.operation?.sending();
  const timer = new Promise<never>((_, reject) => {
    const left = context.deadline - clock.now();
    if (Number.isFinite(left)) {
      clock.setTimer(left, () =>
        reject(new FaultError({ kind: 'timeout', clock: 'deadline', sent: 'maybe' })),
      );
    }
  });
  timer.catch(() => undefined);
  const { id } = await Promise.race([wire.send(kind, subject), timer]);
  return { id };
}

interface Deps {
  readonly wire: Wire;
  readonly clock: Clock;
}

function lookFor(
  { wire }: Deps,
  kind: string,
  authoritative: boolean,
): Reconcile<{ text: string }, { id: string }> {
  return {
    authoritative,
    readBack: async ({ args, sentAt }) => {
      const found = await wire.find(kind, args.text, sentAt);
      return found ? { found: 'executed', data: { id: found.id } } : { found: 'absent' };
    },
  };
}

/** The tools of a small network, one for each way in which an upstream can be asked. */
export function toolsOf(wire: Wire, clock: Clock): readonly Tool[] {
  const deps = { wire, clock };
  const text = z.object({ text: z.string(), media: z.array(z.string()).optional() });
  const account = z.object({ account: z.string().default('main'), text: z.string() });
  const target = z.object({ id: z.string() });

  const posting = (name: string) =>
    ({
      ...base,
      name,
      effect: 'once',
      input: text,
      handler: ({ text: subject }: { text: string }, context: ToolContext) =>
        write(deps, context, name, subject),
    }) as const;

  return [
    // Nobody can look whether it happened.
    defineTool(posting('post')),
    // One can look, and what is not there may still come.
    defineTool({ ...posting('post_seen'), reconcile: lookFor(deps, 'post_seen', false) }),
    // One can look, and what is not there did not happen.
    defineTool({ ...posting('post_sure'), reconcile: lookFor(deps, 'post_sure', true) }),
    defineTool({
      ...base,
      name: 'post_as',
      effect: 'once',
      input: account,
      account: ({ account: name }) => name,
      handler: ({ text: subject, account: name }, context) =>
        write(deps, context, 'post_as', `${name}/${subject}`),
    }),
    defineTool({
      ...base,
      name: 'reply',
      effect: 'once',
      key: 'reply:{to}',
      input: z.object({ to: z.string(), text: z.string() }),
      handler: ({ to }, context) => write(deps, context, 'reply', to),
    }),
    defineTool({
      ...base,
      name: 'pay',
      effect: 'once',
      sensitive: ['card'],
      input: z.object({ card: z.string(), amount: z.number() }),
      estimateCost: ({ amount }) => ({ amount, unit: 'EUR' }),
      handler: ({ amount }, context) => write(deps, context, 'pay', String(amount)),
    }),
    defineTool({
      ...base,
      name: 'like',
      effect: 'idempotent',
      window: 30_000,
      input: target,
      handler: ({ id }, context) => write(deps, context, 'like', id),
    }),
    defineTool({
      ...base,
      name: 'unlike',
      effect: 'idempotent',
      inverse: { of: 'like' },
      input: target,
      handler: ({ id }, context) => write(deps, context, 'unlike', id),
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
      handler: ({ id }, context) => write(deps, context, 'delete', id),
    }),
    thread(deps, 'thread', true),
    thread(deps, 'thread_blind', undefined),
  ];
}

/** Posts one after the other. `authoritative`: what a look at the upstream is worth, if there is one. */
function thread(deps: Deps, name: string, authoritative: boolean | undefined): Tool {
  return defineTool({
    ...base,
    name,
    effect: 'once',
    input: z.object({ posts: z.array(z.string()).min(1) }),
    output: z.object({ ids: z.array(z.string()) }),
    partial: z.object({ ids: z.array(z.string()) }),
    errors: [...upstreamCodes, 'thread_partial_failure'],
    handler: async ({ posts }, context) => {
      const ids: string[] = [];
      for (const [index, post] of posts.entries()) {
        const run = () => write(deps, context, name, post);
        const reconcile = authoritative !== undefined && {
          authoritative,
          readBack: async ({ sentAt }: { sentAt: number }) => {
            const found = await deps.wire.find(name, post, sentAt);
            return found
              ? ({ found: 'executed', data: { id: found.id } } as const)
              : ({ found: 'absent' } as const);
          },
        };
        try {
          const { operation } = context;
          const posted = operation
            ? await operation.step(`post ${index}`, run, reconcile || undefined)
            : await run();
          ids.push(posted.id);
        } catch (cause) {
          if (index === 0 || !(cause instanceof FaultError)) throw cause;
          return toolError('thread_partial_failure', 'It stopped half way. Call it again.', {
            data: { ids },
            details: { posted: index, failed_at_index: index },
            ...(cause.fault.sent !== 'no' && cause.fault.kind !== 'rate_limited' && {
              outcome: 'unknown',
            }),
          });
        }
      }
      return { ids };
    },
  });
}
