import { setTimeout } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { envelopeSchema, type Envelope } from '@toolkeel/contract';
import { expect } from 'vitest';

export type Answer = Envelope<Readonly<Record<string, unknown>>>;

/** A client of MCP, and the envelopes that it gets. */
export interface Connected {
  call(tool: string, args?: object): Promise<Answer>;
  tools(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export async function connect(url: string): Promise<Connected> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return {
    call: async (name, args = {}) => {
      const { structuredContent, content, isError } = await client.callTool({
        name,
        arguments: { ...args },
      });
      // Whatever it says, it is one envelope, and clients of both kinds see the same.
      expect(envelopeSchema.safeParse(structuredContent).error).toBeUndefined();
      const answer = structuredContent as Answer;
      expect(JSON.parse((content[0] as { readonly text: string }).text)).toEqual(answer);
      expect(isError ?? false).toBe(!answer.success);
      return answer;
    },
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    close: () => client.close(),
  };
}

/** Longer than anybody looks for anything. */
const SETTLES_MS = 30_000;

/**
 * The same call until nobody else is at it. Whoever comes while its end is still looked for is asked to
 * come back; how soon that is over depends on the machine, and not on what is tested.
 */
export async function settledCall(
  server: Pick<Connected, 'call'>,
  tool: string,
  args: object,
): Promise<Answer> {
  const until = performance.now() + SETTLES_MS;
  for (;;) {
    const answer = await server.call(tool, args);
    const isInFlight = !answer.success && answer.error.code === 'idempotency_in_flight';
    if (!isInFlight || performance.now() > until) return answer;
    await setTimeout(answer.error.retry_after_ms ?? 100);
  }
}

/** `ok`, or the code of the failure and what it says about what was done. */
export function ending(answer: Answer): string {
  if (answer.success) return 'ok';
  const { code, outcome } = answer.error;
  return outcome === undefined ? code : `${code} ${outcome}`;
}
