import { defineTool, type Reconciliation, type ToolContext } from '@toolkeel/contract';
import { classifyError, compose, deadline, FaultError, retry } from '@toolkeel/kernel';
import { Agent, request } from 'undici';
import * as z from 'zod';

/** Called at points of a mutation. */
export interface Hooks {
  readonly beforeSending: () => void;
  readonly afterResponse: () => void;
}

/** Longer than a kill test on a busy machine; the default window for equal content is half a minute. */
const WINDOW_MS = 3_600_000;
const input = z.object({ key: z.string().min(1), text: z.string().default('') });
const output = z.object({ id: z.string() });
const codes = [
  'upstream_unavailable',
  'upstream_rejected',
  'rate_limited',
  'not_found',
  'forbidden',
  'unauthorized',
  'circuit_open',
] as const;

/** Tools for the drill's upstream, which executes every write. */
export function effectTools(url: string, hooks: Hooks) {
  const agent = new Agent({ connections: 64 });
  /** Shorter than the deadline, to leave time to read back after an unanswered write. */
  const timeouts = { headersTimeout: 2_000, bodyTimeout: 2_000 };

  const writePolicy = compose([deadline(10_000)], { effect: 'once', classify: classifyError });
  const write = writePolicy.wrap(
    async ({ key, part }: { readonly key: string; readonly part: string }, { signal }) => {
      const { statusCode, body } = await request(address(url, key, part), {
        method: 'POST',
        dispatcher: agent,
        ...timeouts,
        signal,
        body: '{}',
      });
      const text = await body.text();
      hooks.afterResponse();
      if (statusCode >= 400) throw Object.assign(new Error('refused'), { status: statusCode });
      return parsed(text);
    },
  );

  const act = async (key: string, part: string, { operation, signal }: ToolContext) => {
    hooks.beforeSending();
    const send = () => write({ key, part }, { signal });
    return operation ? operation.send(send) : send();
  };

  /** Reading back is a read and is retried like any other. */
  const list = compose([retry({ maxRetries: 2 }), deadline(8_000)], {
    effect: 'read',
    classify: classifyError,
  }).wrap(async ({ key, part }: { readonly key: string; readonly part: string }, { signal }) => {
    const { body } = await request(address(url, key, part), { dispatcher: agent, signal });
    return (await body.json()) as readonly { readonly id: string }[];
  });

  const readBack = async (key: string, part: string): Promise<Reconciliation<{ id: string }>> => {
    const [found] = await list({ key, part });
    return found ? { found: 'executed', data: { id: found.id } } : { found: 'absent' };
  };

  const traits = {
    effect: 'once',
    send: 'explicit',
    input,
    output,
    errors: codes,
    window: WINDOW_MS,
  } as const;
  return [
    defineTool({
      name: 'act',
      description: 'Executes one write that can be read back.',
      ...traits,
      handler: ({ key }, context) => act(key, '', context),
      reconcile: { authoritative: true, readBack: ({ args }) => readBack(args.key, '') },
    }),
    defineTool({
      name: 'act_blindly',
      description: 'Executes one write that cannot be read back.',
      ...traits,
      handler: ({ key }, context) => act(key, '', context),
    }),
    defineTool({
      name: 'act_in_parts',
      description: 'Executes three writes, one for each part.',
      ...traits,
      output: z.object({ ids: z.array(z.string()) }),
      step: output,
      handler: async ({ key }, context) => {
        const ids: string[] = [];
        for (const part of ['1', '2', '3']) {
          const run = () => act(key, part, context);
          const done = context.operation
            ? await context.operation.step(part, run, {
                authoritative: true,
                readBack: () => readBack(key, part),
              })
            : await run();
          ids.push(done.id);
        }
        return { ids };
      },
    }),
  ];
}

function address(url: string, key: string, part: string): string {
  return `${url}/acts?${new URLSearchParams({ key, part }).toString()}`;
}

/** A 2xx response with an invalid body may still have been executed. */
function parsed(text: string): { id: string } {
  try {
    return output.parse(JSON.parse(text));
  } catch (cause) {
    throw new FaultError({ kind: 'bad_response', sent: 'maybe', cause });
  }
}
