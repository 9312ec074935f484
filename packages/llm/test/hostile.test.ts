import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { VirtualClock } from '@toolkeel/kernel/testing';
import { gemini, type GeminiOptions, type Model } from '@toolkeel/llm';
import { afterEach, describe, expect, it } from 'vitest';
import { ask, errorOf, eventsOf, quick } from './support/rig.js';

const opened: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

const KEY = 'AIzaSyMadeUpKeyOfATest';

/** Gemini with an upstream that answers every request in this way. */
async function geminiAt(
  respond: (response: ServerResponse) => void,
  options: Partial<GeminiOptions> = {},
): Promise<Model & { readonly requests: () => number }> {
  let requests = 0;
  const server = createServer((request, response) => {
    requests++;
    request.resume().on('end', () => respond(response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  opened.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  const model = gemini({
    baseUrl: `http://127.0.0.1:${port}`,
    apiKey: { env: 'KEY' },
    env: { KEY },
    policy: { ...quick, maxRetries: 0 },
    ...options,
  });
  opened.push(model.close);
  return { ...model, requests: () => requests };
}

const event = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;
const text = (words: string, finishReason?: string): string =>
  event({ candidates: [{ content: { parts: [{ text: words }] }, finishReason }] });
const stream = (response: ServerResponse): ServerResponse =>
  response.writeHead(200, { 'content-type': 'text/event-stream' });

/** Writes for as long as the client reads. */
function writeForEver(response: ServerResponse, piece: string): void {
  const write = (): void => {
    while (!response.destroyed && response.write(piece));
  };
  response.on('drain', write);
  write();
}

describe('a stream of a hostile upstream', () => {
  it('cannot add to an answer after its finish mark, except for usage', async () => {
    const usage = event({ usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1 } });
    const model = await geminiAt((response) => {
      stream(response).end(
        text('All.', 'STOP') + text(' And more.') + usage + event({ error: {} }),
      );
    });
    const events = await eventsOf(model.stream(ask()));
    expect(events.map(({ type }) => type)).toEqual(['start', 'content', 'usage', 'done']);
    expect(events.at(-1)).toMatchObject({ completion: { text: 'All.', finish: 'stop' } });
  });

  it('cannot fail an answer by leaving the connection open after its finish mark', async () => {
    const timeouts = { byteIdleMs: 100, contentIdleMs: 100, totalMs: 100 };
    const model = await geminiAt((response) => stream(response).write(text('All.', 'STOP')), {
      timeouts: { ...timeouts, headersMs: 30_000 },
    });
    // The clocks would have fired while the rest of the connection is read.
    expect(await model.complete(ask())).toMatchObject({ text: 'All.', finish: 'stop' });
  });

  it.for([
    ['endless content', text('x'.repeat(100_000))],
    ['an endless line', 'data: '.repeat(20_000)],
    ['endless comments', `: ${'x'.repeat(100_000)}\n`],
  ] as const)('cannot fill the memory with %s', async ([, piece]) => {
    const model = await geminiAt(
      (response) => {
        writeForEver(stream(response), piece);
      },
      { policy: quick },
    );
    const error = await errorOf(model.complete(ask()));
    expect(error).toMatchObject({ code: 'bad_response', retriable: false, attempts: 1 });
    expect(error.partialText.length).toBeLessThan(33 * 1024 * 1024);
  });

  it('may split characters anywhere and send bytes that are not UTF-8', async () => {
    const model = await geminiAt((response) => {
      const bytes = Buffer.from(text('é😀', 'STOP'));
      stream(response);
      for (const byte of bytes) response.write(Buffer.from([byte]));
      response.end();
    });
    expect((await model.complete(ask())).text).toBe('é😀');
    const broken = await geminiAt((response) => {
      stream(response).write('data: {"candidates":[{"content":{"parts":[{"text":"a');
      response.write(Buffer.from([0xff, 0xc3]));
      response.end('b"}]},"finishReason":"STOP"}]}\n\n');
    });
    expect((await broken.complete(ask())).text).toBe('a\uFFFD\uFFFDb');
  });

  it.for([
    ['parts of another type', { candidates: [{ content: { parts: 5 } }] }],
    ['an empty part', { candidates: [{ content: { parts: [null] } }] }],
  ] as const)('with %s is a bad response, which is retried', async ([, data]) => {
    const model = await geminiAt((response) => stream(response).end(event(data)), {
      policy: quick,
    });
    const error = await errorOf(model.complete(ask()));
    expect(error).toMatchObject({ code: 'bad_response', retriable: true, attempts: 3 });
  });

  it('does not pass on usage that is no number', async () => {
    const usageMetadata = { promptTokenCount: '3', candidatesTokenCount: -1 };
    const model = await geminiAt((response) => {
      stream(response).end(event({ usageMetadata }) + text('All.', 'STOP'));
    });
    const { usage } = await model.complete(ask());
    expect(usage).toEqual({ inputTokens: 0, outputTokens: 0 });
  });
});

describe('an error response', () => {
  it('does not reveal the key that it names', async () => {
    const message = `Permission denied: Consumer 'api_key:${KEY}' has been suspended.`;
    const body = JSON.stringify({ error: { code: 403, message, status: 'PERMISSION_DENIED' } });
    const model = await geminiAt((response) => {
      response.writeHead(403, { 'content-type': 'application/json' }).end(body);
    });
    const error = await errorOf(model.complete(ask()));
    expect(error.message).toContain('api_key:[redacted]');
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(KEY);
    const [health] = await model.health();
    expect(health?.detail).toContain('has been suspended');
    expect(JSON.stringify(health)).not.toContain(KEY);
  });

  it.for([
    ['that should be retried', 400, 'INVALID_ARGUMENT', 'true', 'invalid_request', 3],
    ['that should be retried as a limit', 429, 'RESOURCE_EXHAUSTED', 'true', 'rate_limited', 3],
    ['that should not be retried', 503, 'UNAVAILABLE', 'false', 'server_error', 1],
    ['about billing', 400, 'FAILED_PRECONDITION', undefined, 'billing', 1],
  ] as const)(
    '%s is judged by its typed fields',
    async ([, code, status, advice, expected, sent]) => {
      const body = JSON.stringify({ error: { code, status, message: 'No.' } });
      const model = await geminiAt(
        (response) => {
          response
            .writeHead(code, advice === undefined ? {} : { 'x-should-retry': advice })
            .end(body);
        },
        { policy: quick },
      );
      const error = await errorOf(model.complete(ask()));
      expect(error).toMatchObject({ code: expected, attempts: sent, retriable: sent > 1 });
      expect(model.requests()).toBe(sent);
    },
  );

  it.for([
    ['breaks off', (response: ServerResponse) => response.destroy()],
    ['stalls', () => undefined],
  ] as const)('whose body %s is still known by its status and headers', async ([, then]) => {
    const clock = new VirtualClock();
    const model = await geminiAt(
      (response) => {
        const headers = { 'content-length': '100', 'retry-after': '7' };
        response.writeHead(429, headers).write('{"err', () => then(response));
      },
      { clock },
    );
    const failing = errorOf(model.complete(ask()));
    await expect.poll(model.requests).toBe(1);
    const error = await advancing(clock, failing);
    expect(error).toMatchObject({ code: 'rate_limited', status: 429, retryAfterMs: 7_000 });
    // Long before any clock of the attempt.
    expect(clock.now()).toBeLessThan(10_000);
  });
});

/** Advances virtual time in steps of 100 ms, with time for the sockets, until the promise settles. */
function advancing<T>(clock: VirtualClock, promise: Promise<T>): Promise<T> {
  const timer = setInterval(() => void clock.advance(100), 5);
  return promise.finally(() => clearInterval(timer));
}

it.for([
  [400, 'API_KEY_INVALID', 'auth'],
  [403, 'BILLING_DISABLED', 'billing'],
] as const)(
  'an error body that is an array keeps its reason: %j',
  async ([status, reason, code]) => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason }];
    const body = [{ error: { code: status, message: 'No such key', details } }];
    const model = await geminiAt((response) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
    );
    const error = await errorOf(model.complete(ask()));
    expect(error).toMatchObject({ code, retriable: false });
    expect(error.message).toMatch(/^Gemini says: No such key/);
  },
);

it('a redirect is no refusal of the request: the address is wrong', async () => {
  const model = await geminiAt((response) =>
    response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(),
  );
  const error = await errorOf(model.complete(ask()));
  expect(error).toMatchObject({ code: 'bad_response', status: 307, retriable: false });
  expect(error.message).toMatch(/redirects to another address.*Check the base URL/);
});

it('an exhausted quota of the day says that waiting does not help', async () => {
  const violations = [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel-FreeTier' }];
  const details = [{ '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations }];
  const body = { error: { code: 429, message: 'You exceeded your current quota.', details } };
  const model = await geminiAt((response) =>
    response.writeHead(429, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
  );
  const error = await errorOf(model.complete(ask()));
  expect(error.code).toBe('quota_exhausted');
  expect(error.message).toMatch(/exceeded your current quota.*waiting for minutes does not help/);
});
