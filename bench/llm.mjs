import { writeFileSync } from 'node:fs';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import Anthropic from '@anthropic-ai/sdk';
import { startLlmSandbox } from '@toolkeel/sandbox';
import { claude, gemini } from '@toolkeel/llm';
import { streamText } from 'ai';
import { inRoot } from '../scripts/lib/paths.mjs';

// The same faults for this project, the Vercel AI SDK and the Anthropic SDK: which of them returns, when, and with
// what. Every client has the timeout that comes closest to "3 s without a sign of life" and its own default retries.

const TIMEOUT_MS = 3_000;
/** A client that has not returned by then counts as hanging. */
const PATIENCE_MS = 45_000;
const QUESTION = 'Why is the sky blue?';

const faults = [
  { title: 'hang before headers', rule: { kind: 'stall' } },
  { title: 'mid-stream stall', rule: { kind: 'llm-stall-mid-stream' } },
  { title: 'keep-alive comments only', rule: { kind: 'llm-comments-mid-stream' } },
  { title: 'truncation (clean end without a finish mark)', rule: { kind: 'llm-no-finish' } },
  { title: '429 with Retry-After: 120', rule: { kind: 'http-429', retryAfter: { seconds: 120 } } },
];

/** @param {AsyncIterable<any>} stream */
const read = async (stream) => {
  let last;
  for await (const event of stream) last = event;
  if (last.type === 'error') throw last.error;
  return `success: "${last.completion.text.slice(0, 24)}…", finish ${last.completion.finish}`;
};

const timeouts = { headersMs: TIMEOUT_MS, byteIdleMs: TIMEOUT_MS, contentIdleMs: TIMEOUT_MS };
const messages = [{ role: 'user', content: QUESTION }];
const deadline = () => performance.now() + 30_000;

const clients = {
  'Toolkeel, Gemini': async (sandbox, signal) => {
    const env = { KEY: sandbox.apiKey };
    const model = gemini({ baseUrl: sandbox.url, apiKey: { env: 'KEY' }, env, timeouts });
    try {
      return await read(model.stream({ messages }, { signal, deadline: deadline() }));
    } finally {
      await model.close();
    }
  },
  'Toolkeel, Claude CLI (stand-in)': async (sandbox, signal) => {
    const model = claude({ baseUrl: sandbox.url, cliPath: sandbox.cliPath, timeouts });
    try {
      return await read(model.stream({ messages }, { signal, deadline: deadline() }));
    } finally {
      await model.close();
    }
  },
  'Vercel AI SDK 6, Gemini, defaults': (sandbox, signal) => vercel(sandbox, signal, {}),
  'Vercel AI SDK 6, Gemini, chunkMs 3000': (sandbox, signal) =>
    vercel(sandbox, signal, { timeout: { chunkMs: TIMEOUT_MS } }),
  'Anthropic SDK 1.8, timeout 3000': async (sandbox, signal) => {
    const client = new Anthropic({ baseURL: sandbox.url, apiKey: 'sandbox', timeout: TIMEOUT_MS });
    const stream = client.messages.stream(
      { model: 'claude-sonnet-5-5', max_tokens: 1000, messages },
      { signal },
    );
    const message = await stream.finalMessage();
    const [block] = message.content;
    return `success: "${String(block?.text).slice(0, 24)}…", stop_reason ${message.stop_reason}`;
  },
};

async function vercel(sandbox, signal, options) {
  const google = createGoogleGenerativeAI({
    baseURL: `${sandbox.url}/v1beta`,
    apiKey: sandbox.apiKey,
  });
  let failure;
  const result = streamText({
    model: google('gemini-2.5-flash'),
    prompt: QUESTION,
    abortSignal: signal,
    ...options,
    onError: ({ error }) => (failure ??= error),
  });
  let text = '';
  let aborted = false;
  for await (const part of result.fullStream) {
    if (part.type === 'text-delta') text += part.text;
    if (part.type === 'abort') aborted = true;
  }
  if (failure) throw failure;
  if (aborted) return `aborted after "${text.slice(0, 24)}…"`;
  return `success: "${text.slice(0, 24)}…", finish ${await result.finishReason}`;
}

const describe = (error) => {
  const { name, code, clock, message, retryAfterMs, attempts } = error;
  const facts = { code, clock, retryAfterMs, attempts };
  const known = Object.entries(facts).filter(([, value]) => value !== undefined);
  const short = String(message).replaceAll(/\s+/g, ' ').slice(0, 80);
  return `${name}${known.length > 0 ? ` ${JSON.stringify(Object.fromEntries(known))}` : ''}: ${short}`;
};

async function run(client, rule) {
  const sandbox = await startLlmSandbox();
  const routes = ['gemini-stream', 'messages'];
  sandbox.setFaults([{ ...rule, routes }]);
  const controller = new AbortController();
  const startedAt = performance.now();
  const patience = new Promise((resolve) => {
    setTimeout(() => resolve('still waiting'), PATIENCE_MS).unref();
  });
  const outcome = await Promise.race([
    client(sandbox, controller.signal).then(
      (value) => value,
      (error) => describe(error),
    ),
    patience,
  ]);
  const took = (performance.now() - startedAt) / 1000;
  const log = sandbox.log().filter(({ route }) => routes.includes(route));
  const gaps = log.slice(1).map((entry, at) => ((entry.at - log[at].at) / 1000).toFixed(1));
  controller.abort();
  await sandbox.close();
  return { outcome, took, requests: log.length, gaps };
}

const lines = [
  '# Language-model clients under the same faults',
  '',
  '<!-- Written by npm run bench:llm -->',
  '',
  `One run on Node ${process.version}. Every client has the timeout that comes closest to 3 s without a sign of life, and its own default retries. A client that has not returned after ${PATIENCE_MS / 1000} s counts as hanging. The call of Toolkeel has a deadline of 30 s. Requests are those that the sandbox received; gaps are the seconds between them.`,
  '',
];
for (const { title, rule } of faults) {
  lines.push(
    `## ${title}`,
    '',
    '| client | returns after | requests (gaps) | with |',
    '| --- | ---: | --- | --- |',
  );
  process.stdout.write(`\n${title}\n`);
  // Side by side: none of them needs the processor.
  const results = await Promise.all(
    Object.entries(clients).map(async ([name, client]) => ({ name, ...(await run(client, rule)) })),
  );
  for (const { name, outcome, took, requests, gaps } of results) {
    const after =
      outcome === 'still waiting' ? `never (${took.toFixed(0)} s)` : `${took.toFixed(1)} s`;
    const sent = `${requests}${gaps.length > 0 ? ` (${gaps.join(', ')})` : ''}`;
    process.stdout.write(
      `  ${name.padEnd(40)} ${after.padStart(12)}  ${sent.padEnd(14)} ${outcome}\n`,
    );
    lines.push(`| ${name} | ${after} | ${sent} | ${outcome.replaceAll('|', '\\|')} |`);
  }
  lines.push('');
}
writeFileSync(inRoot('docs', 'llm-comparison.md'), `${lines.join('\n').trimEnd()}\n`);
process.exit(0);
