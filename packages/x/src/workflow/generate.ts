import {
  raise,
  toolError,
  type TextCompletion,
  type TextContext,
  type TextModel,
  type TextRequest,
} from '@toolkeel/contract';
import { isModelError, modelErrorToToolError, modelNotConfigured } from '@toolkeel/pack-kit';
import * as z from 'zod';
import { weightedLength } from '../text/weighted-length.js';
import { cutToLength, plainText } from './fit.js';
import {
  replyPrompt,
  THREAD_PARTS,
  threadPrompt,
  topicsPrompt,
  tweetPrompt,
  type Profile,
  type ReplyTask,
  type ThreadTask,
  type TopicsTask,
} from './prompts.js';

export type Writer = ReturnType<typeof createWriter>;

interface Generated {
  /** The model that answered. */
  readonly model: string;
  /** The first answer was too long or unusable, and the model was asked again. */
  readonly regenerated: boolean;
}

interface Part {
  readonly purpose: string;
  readonly text: string;
}

interface Topic {
  readonly topic: string;
  readonly reason: string;
}

/** Asks a model on behalf of one account. Methods throw tool errors. `cut`: a text was still too long. */
export function createWriter(model: TextModel | undefined, profile: Profile) {
  const write = async (request: TextRequest, limit: number, context: TextContext) => {
    const { value, ...generated } = await ask(model, request, context, (answer) =>
      readText(answer, limit),
    );
    const text = cutToLength(value, limit);
    return { text, weighted_length: weightedLength(text), cut: text !== value, ...generated };
  };
  return {
    tweet: (task: Parameters<typeof tweetPrompt>[0], context: TextContext) =>
      write(tweetPrompt(task, profile), task.limit, context),
    reply: (task: ReplyTask, context: TextContext) =>
      write(replyPrompt(task, profile), task.limit, context),
    thread: async (task: ThreadTask, context: TextContext) => {
      const { limit } = task;
      const { value, ...generated } = await ask(
        model,
        threadPrompt(task, profile),
        context,
        (answer) => readThread(answer, limit),
      );
      const parts = value.map(({ purpose, text }) => ({ purpose, text: cutToLength(text, limit) }));
      const cut = parts.some(({ text }, index) => text !== value[index]?.text);
      return { parts, cut, ...generated };
    },
    topics: async (task: TopicsTask, context: TextContext) => {
      const { value, ...generated } = await ask(
        model,
        topicsPrompt(task, profile),
        context,
        readTopics,
      );
      return { topics: value.slice(0, task.count), ...generated };
    },
  };
}

/** A reading of an answer. With a problem, the model is asked once more; a value is used if it stays. */
interface Reading<T> {
  readonly value?: T;
  readonly problem?: string;
}

async function ask<T>(
  model: TextModel | undefined,
  request: TextRequest,
  context: TextContext,
  read: (answer: string) => Reading<T>,
): Promise<Generated & { readonly value: T }> {
  const first = await complete(model, request, context);
  const { value, problem } = read(first.text);
  if (problem === undefined && value !== undefined) {
    return { value, model: first.model, regenerated: false };
  }
  const messages = [
    ...request.messages,
    // An empty message is not valid everywhere.
    { role: 'assistant' as const, content: first.text === '' ? '(nothing)' : first.text },
    { role: 'user' as const, content: `${problem} Answer again, in the same form.` },
  ];
  const second = await complete(model, { ...request, messages }, context);
  const again = read(second.text).value ?? value;
  if (again !== undefined) return { value: again, model: second.model, regenerated: true };
  return raise(
    toolError('llm_error', 'The language model gave no usable answer, twice. Try again.', {
      details: { provider: second.provider },
    }),
  );
}

async function complete(
  model: TextModel | undefined,
  request: TextRequest,
  { signal, deadline, correlationId }: TextContext,
): Promise<TextCompletion> {
  if (!model) return raise(modelNotConfigured());
  try {
    return await model.complete(request, {
      ...(signal && { signal }),
      ...(deadline !== undefined && { deadline }),
      ...(correlationId !== undefined && { correlationId }),
    });
  } catch (cause) {
    if (isModelError(cause) && cause.code !== 'cancelled') raise(modelErrorToToolError(cause));
    throw cause;
  }
}

function readText(answer: string, limit: number): Reading<string> {
  const value = plainText(answer);
  if (value === '') return { problem: 'The answer is empty.' };
  const length = weightedLength(value);
  return length <= limit ? { value } : { value, problem: tooLong(length, limit) };
}

const tooLong = (length: number, limit: number, what = 'It'): string =>
  `${what} counts as ${length} characters; at most ${limit} are allowed.`;

const parts = z.object({
  parts: z.array(z.object({ purpose: z.string().catch(''), text: z.string() })),
});

/** X accepts no longer threads in one call. */
const MOST_PARTS = 25;

function readThread(answer: string, limit: number): Reading<readonly Part[]> {
  const read = parts.safeParse(jsonIn(answer));
  const value = (read.data?.parts ?? [])
    .map(({ purpose, text }) => ({ purpose: plainText(purpose), text: plainText(text) }))
    .filter(({ text }) => text !== '');
  const { least, most } = THREAD_PARTS;
  if (value.length < 2 || value.length > MOST_PARTS) {
    return { problem: `The answer must be a JSON object with ${least} to ${most} parts.` };
  }
  if (value.length < least || value.length > most) {
    const problem = `The thread has ${value.length} parts instead of ${least} to ${most}.`;
    return { value, problem };
  }
  const at = value.findIndex(({ text }) => weightedLength(text) > limit);
  if (at < 0) return { value };
  return { value, problem: tooLong(weightedLength(value[at]!.text), limit, `Part ${at + 1}`) };
}

const topicList = z.object({
  topics: z.array(z.object({ topic: z.string(), reason: z.string().catch('') })),
});

function readTopics(answer: string): Reading<readonly Topic[]> {
  const read = topicList.safeParse(jsonIn(answer));
  const value = (read.data?.topics ?? [])
    .map(({ topic, reason }) => ({ topic: plainText(topic), reason: plainText(reason) }))
    .filter(({ topic }) => topic !== '');
  return value.length > 0
    ? { value }
    : { problem: 'The answer must be a JSON object with a list of topics.' };
}

/** The JSON object in an answer; some models write around it. */
function jsonIn(answer: string): unknown {
  const [from, to] = [answer.indexOf('{'), answer.lastIndexOf('}')];
  try {
    return JSON.parse(answer.slice(from, to + 1));
  } catch {
    return undefined;
  }
}

/** How the first part of a thread catches attention. */
export function hookOf(text: string): 'question' | 'contrarian' | 'story' | 'statement' {
  if (/[?？]\s*$/u.test(text)) return 'question';
  if (/^(?:most people|everyone|nobody)\b/iu.test(text)) return 'contrarian';
  return /^(?:I|I['’]\w+)\s/u.test(text) ? 'story' : 'statement';
}
