import { defineTool, type Reconciliation, type ToolContext } from '@toolkeel/contract';
import { classifyError, compose, deadline, FaultError, retry } from '@toolkeel/kernel';
import { Agent, request } from 'undici';
import * as z from 'zod';

/** Where a test or a drill looks into a call. */
export interface Hooks {
  readonly beforeSending: () => void;
  readonly afterResponse: () => void;
}

/** A storm on a busy machine lasts longer than the window of half a minute, in which the same content is the same act. */
const WINDOW_MS = 3_600_000;
const profiles = ['api', 'workflow'] as const;
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

/** The tools of the upstream that acts whenever it is asked to. */
export function effectTools(url: string, hooks: Hooks) {
  const agent = new Agent({ connections: 64 });
  /** A write that nobody answers is given up, so that there is time left to read back. */
  const impatient = { headersTimeout: 2_000, bodyTimeout: 2_000 };

  const careful = compose([deadline(10_000)], { effect: 'once', classify: classifyError });
  const write = careful.wrap(
    async ({ key, part }: { readonly key: string; readonly part: string }, { signal }) => {
      const { statusCode, body } = await request(address(url, key, part), {
        method: 'POST',
        dispatcher: agent,
        ...impatient,
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

  /** A look is a read, and is repeated like one: a connection may break under it, too. */
  const look = compose([retry({ maxRetries: 2 }), deadline(8_000)], {
    effect: 'read',
    classify: classifyError,
  }).wrap(async ({ key, part }: { readonly key: string; readonly part: string }, { signal }) => {
    const { body } = await request(address(url, key, part), { dispatcher: agent, signal });
    return (await body.json()) as readonly { readonly id: string }[];
  });

  const find = async (key: string, part: string): Promise<Reconciliation<{ id: string }>> => {
    const [found] = await look({ key, part });
    return found ? { found: 'executed', data: { id: found.id } } : { found: 'absent' };
  };

  return [
    defineTool({
      name: 'act',
      title: 'Act',
      description: 'Acts once; what was done can be read back.',
      category: 'write',
      effect: 'once',
      send: 'explicit',
      profiles,
      input,
      output,
      errors: codes,
      window: WINDOW_MS,
      handler: ({ key }, context) => act(key, '', context),
      reconcile: { authoritative: true, readBack: ({ args }) => find(args.key, '') },
    }),
    defineTool({
      name: 'act_blindly',
      title: 'Act blindly',
      description: 'Acts once, on an upstream that tells nothing about what it did.',
      category: 'write',
      effect: 'once',
      send: 'explicit',
      profiles,
      input,
      output,
      errors: codes,
      window: WINDOW_MS,
      handler: ({ key }, context) => act(key, '', context),
    }),
    defineTool({
      name: 'act_in_parts',
      title: 'Act in parts',
      description: 'Acts once in each of three parts.',
      category: 'write',
      effect: 'once',
      send: 'explicit',
      profiles,
      input,
      output: z.object({ ids: z.array(z.string()) }),
      step: output,
      errors: codes,
      window: WINDOW_MS,
      handler: async ({ key }, context) => {
        const ids: string[] = [];
        for (const part of ['1', '2', '3']) {
          const run = () => act(key, part, context);
          const readBack = () => find(key, part);
          const done = context.operation
            ? await context.operation.step(part, run, { authoritative: true, readBack })
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

/** A 2xx that nobody can read may have acted all the same. */
function parsed(text: string): { id: string } {
  try {
    return output.parse(JSON.parse(text));
  } catch (cause) {
    throw new FaultError({ kind: 'bad_response', sent: 'maybe', cause });
  }
}
