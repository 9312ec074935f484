import { readFileSync, writeFileSync } from 'node:fs';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { frozenCodes } from '@toolkeel/contract';
import { describe, expect, it } from 'vitest';
import { run } from '../../src/run.js';
import { fakeRuntime } from '../../src/runtime.fixture.js';
import type { Connected, Envelope } from '../support/client.js';
import { useWorkflow, type Stage, type StageOptions } from '../support/workflow.js';

const open = useWorkflow();

type Code = keyof typeof frozenCodes;

/** One way to get a code: the server, what happens, and how a reader of the table would put it. */
interface Cause {
  readonly tool: string;
  readonly cause: string;
  readonly stage?: StageOptions;
  readonly args?: (stage: Stage) => Readonly<Record<string, unknown>>;
  /** What happens before the call. */
  readonly before?: (stage: Stage) => Promise<unknown>;
  /** The server that is called, if not the first one. */
  readonly via?: (stage: Stage) => Promise<Connected>;
  readonly answer?: Readonly<Record<string, unknown>>;
}

const autopilot = { profile: 'workflow', mode: 'autopilot', template: 'open' };
const post = { args: () => ({ text: 'hello' }) };
const outcome = (value: string) => ({ error: { outcome: value } });

/** Removes the journal of a running server. */
async function removeJournal({ folder }: Stage): Promise<void> {
  const data = join(folder, 'data');
  const files = (await readdir(data)).filter((name) => name.startsWith('journal.db'));
  expect(files).not.toEqual([]);
  for (const name of files) await rm(join(data, name));
}
/** Uses the journal first, as a running server has. */
const journalIsLost = async (stage: Stage): Promise<void> => {
  await stage.call('x_post_tweet', { text: 'written down' });
  await removeJournal(stage);
};

async function settleAsExecuted(stage: Stage): Promise<void> {
  // X executes the post, loses the response, and does not show it yet.
  stage.x.setLag(3_600_000);
  stage.x.setFaults([{ kind: 'reset-after-read', routes: ['create-post'], times: 1 }]);
  const { error } = await stage.call('x_post_tweet', { text: 'hello' });
  expect(error).toMatchObject({ code: 'outcome_unknown' });
  const env = { TOOLKEEL_DATA_DIR: join(stage.folder, 'data') };
  const runtime = fakeRuntime({ cwd: stage.folder, env });
  const words = ['operations', 'resolve', error?.operation_id ?? '', '--outcome', 'executed'];
  expect(await run(words, runtime)).toBe(0);
}

const mp4 = Buffer.concat([
  Buffer.from('\0\0\0\x18ftypisom\0\0\x02\0', 'latin1'),
  Buffer.alloc(500),
]);

/** Every code of the original contract, by its natural cause. */
const causes: Readonly<Record<Code, Cause>> = {
  x_rate_limited: {
    tool: 'x_post_tweet',
    cause: "X's own rate limit is reached, which a server that has just started does not know",
    stage: { sandbox: { limits: { 'create-post': { user: 1 } } } },
    before: ({ call }) => call('x_post_tweet', { text: 'the only one' }),
    via: ({ another }) => another(),
    ...post,
    answer: { error: { outcome: 'not_executed', retry_after_ms: expect.any(Number) as number } },
  },
  x_auth_expired: {
    tool: 'x_post_tweet',
    cause: 'the access token has expired and cannot be renewed',
    before: async ({ x }) => x.clock.advance(7_200_000),
    ...post,
    answer: outcome('not_executed'),
  },
  x_forbidden: {
    tool: 'x_reply_to_tweet',
    cause: 'the tier allows replies only to authors who mentioned the account',
    stage: { sandbox: { tier: 'self_serve' } },
    args: ({ x }) => ({ text: 'hello', in_reply_to_id: x.landmarks.unaskedPostId }),
    answer: { error: { details: { reason: 'reply_not_allowed' } } },
  },
  x_account_restricted: {
    tool: 'x_post_tweet',
    cause: 'X has suspended the account',
    before: async ({ x }) => x.setFaults([{ kind: 'x-403-suspended' }]),
    ...post,
  },
  x_network_error: {
    tool: 'x_get_user_by_username',
    cause: 'no server listens at the address of X',
    before: ({ x }) => x.setReachable(false),
    args: () => ({ username: 'anybody' }),
    answer: { meta: { retry_count: 2 } },
  },
  x_not_configured: {
    tool: 'x_get_me',
    cause: 'there is neither a login nor a token',
    stage: { settings: { accessToken: undefined } },
  },
  x_api_error: {
    tool: 'x_get_me',
    cause: 'X fails with 500, also after two retries',
    before: async ({ x }) => x.setFaults([{ kind: 'http-500' }]),
    answer: { meta: { retry_count: 2 } },
  },
  db_error: {
    tool: 'x_post_tweet',
    cause: 'the database of the journal was removed while the server runs',
    before: journalIsLost,
    ...post,
    answer: outcome('not_executed'),
  },
  validation_error: {
    tool: 'x_post_tweet',
    cause: 'an argument has the wrong type',
    args: () => ({ text: 5 }),
    answer: { error: { message: expect.stringContaining('text') as string } },
  },
  invalid_input: {
    tool: 'x_post_thread',
    cause: 'a part of the thread is empty',
    args: () => ({ tweets: ['one', ' '] }),
    answer: { error: { details: { field: 'tweets[1]' } } },
  },
  tweet_too_long: {
    tool: 'x_post_tweet',
    cause: '141 Chinese characters, which X counts twice',
    args: () => ({ text: '語'.repeat(141) }),
    answer: { error: { details: { weighted_length: 282, limit: 280 } } },
  },
  llm_error: {
    tool: 'generate_tweet',
    cause: 'the language model fails with 503',
    before: async ({ llm }) => llm.setFaults([{ kind: 'http-503' }]),
    args: () => ({ topic: 'birds' }),
    answer: { error: { details: { provider: 'gemini' } } },
  },
  llm_not_configured: {
    tool: 'generate_tweet',
    cause: 'the server has no language model',
    stage: { withoutModel: true },
    args: () => ({ topic: 'birds' }),
  },
  unsupported_media_type: {
    tool: 'x_upload_media',
    cause: 'a file named like an image contains text',
    before: ({ folder }) => writeFile(join(folder, 'letter.png'), 'Dear X'),
    args: () => ({ file_path: 'letter.png' }),
  },
  file_read_error: {
    tool: 'x_upload_media',
    cause: 'the file does not exist',
    args: () => ({ file_path: 'missing.png' }),
  },
  media_upload_error: {
    tool: 'x_upload_media',
    cause: 'X accepts a video and fails to process it',
    stage: { sandbox: { mediaProcessingMs: 20, mediaCheckAfterSeconds: 0 } },
    before: async ({ x, folder }) => {
      await writeFile(join(folder, 'film.mp4'), mp4);
      x.setFaults([{ kind: 'x-media-fails' }]);
    },
    args: () => ({ file_path: 'film.mp4' }),
    answer: { error: { details: { stage: 'processing' } } },
  },
  thread_partial_failure: {
    tool: 'x_post_thread',
    cause: "X's rate limit is reached after two of three parts",
    stage: { sandbox: { limits: { 'create-post': { user: 2 } } } },
    args: () => ({ tweets: ['one', 'two', 'three'] }),
    answer: {
      data: { posted: [{ index: 0 }, { index: 1 }], failed: { code: 'x_rate_limited' } },
      error: { retry_after_ms: expect.any(Number) as number },
    },
  },
  policy_error: {
    tool: 'x_reply_to_tweet',
    cause: 'a hard rule needs the author of the tweet, and X fails to tell',
    before: async ({ x }) => x.setFaults([{ kind: 'http-500', routes: ['post'] }]),
    args: ({ x }) => ({ text: 'hello', in_reply_to_id: x.landmarks.mentionId }),
    answer: outcome('not_executed'),
  },
  policy_denied_blocked: {
    tool: 'x_post_tweet',
    cause: 'the operator blocked the tool',
    stage: { config: { ...autopilot, blockedTools: ['x_post_tweet'] } },
    ...post,
    answer: { error: { policy_decision: 'denied' } },
  },
  policy_denied_rate_limited: {
    tool: 'x_post_tweet',
    cause: 'a limit of the operator is used up',
    stage: {
      config: { ...autopilot, limits: { posts: { when: { tool: 'x_post_*' }, perDay: 1 } } },
    },
    before: ({ call }) => call('x_post_tweet', { text: 'the only one' }),
    ...post,
    answer: { error: { policy_decision: 'denied', retry_after_ms: expect.any(Number) as number } },
  },
  policy_denied_hard_rule: {
    tool: 'x_post_tweet',
    cause: 'the text contains a banned phrase, although a rule allows the call',
    stage: {
      settings: { workflow: { bannedPhrases: ['link in bio'] } },
      config: {
        ...autopilot,
        rules: [{ name: 'all', when: { tool: 'x_post_tweet' }, action: 'allow' }],
      },
    },
    args: () => ({ text: 'Link  in BIO' }),
    answer: { error: { policy_decision: 'denied' } },
  },
  policy_denied_user_rule: {
    tool: 'x_post_tweet',
    cause: 'a rule of the operator denies links',
    stage: {
      config: {
        ...autopilot,
        rules: [
          {
            name: 'no links',
            when: { tool: 'x_post_tweet', 'args.text': { links: true } },
            action: 'deny',
          },
        ],
      },
    },
    args: () => ({ text: 'see https://example.com' }),
    answer: { error: { details: { rule: 'no links' } } },
  },
  context_error: {
    tool: 'get_author_context',
    cause: 'the database with the records of the author was removed',
    before: journalIsLost,
    args: () => ({ identifier: 'anybody' }),
  },
  recommendation_error: {
    tool: 'recommend_engagement_action',
    cause: 'the database with the earlier replies was removed',
    before: journalIsLost,
    args: () => ({ author_username: 'anybody', tweet_text: 'Which birds are these?' }),
  },
  topic_error: {
    tool: 'topic_performance_snapshot',
    cause: 'the database with the own posts was removed',
    before: journalIsLost,
  },
  not_found: {
    tool: 'get_tweet_by_id',
    cause: 'the tweet was deleted',
    args: ({ x }) => ({ tweet_id: x.landmarks.deletedPostId }),
    answer: { meta: { retry_count: 0 } },
  },
  serialization_error: {
    tool: 'x_post_tweet',
    cause:
      'an operator settled the lost post as executed without its result, which a repeat asks for',
    stage: { settings: { toolTimeoutSecs: 3, attemptTimeoutSecs: 2 } },
    before: settleAsExecuted,
    ...post,
    answer: outcome('executed'),
  },
};

/** What the run has shown. */
const observed: { readonly code: string; readonly tool: string; readonly cause: string }[] = [];

describe('codes of the original contract, through a running server', () => {
  it.each(Object.entries(causes))('%s', async (code, given) => {
    const { tool, cause, args = () => ({}), before, via, answer = {} } = given;
    const stage = await open(given.stage);
    await before?.(stage);
    const server: Connected = via ? await via(stage) : stage;
    const envelope: Envelope = await server.call(tool, { ...args(stage) });
    expect(envelope).toMatchObject({
      success: false,
      ...answer,
      error: {
        ...(answer['error'] as object | undefined),
        code,
        retryable: frozenCodes[code as Code].retryable,
      },
    });
    expect(envelope.meta).toMatchObject({ mode: 'autopilot', approval_mode: false });
    observed.push({ code: envelope.error?.code ?? '', tool, cause });
  });

  it('are all covered, and docs/error-causes.md shows this run', () => {
    expect(observed.map(({ code }) => code)).toEqual(Object.keys(frozenCodes));
    const page = new URL('../../../../docs/error-causes.md', import.meta.url);
    const text = [
      '# Causes of the error codes',
      '',
      '<!-- Generated by packages/cli/test/x/seed-codes.test.ts. Do not edit: run',
      '     UPDATE_DOCS=1 npx vitest run packages/cli/test/x/seed-codes.test.ts -->',
      '',
      'Every one of the 27 codes of the original contract, as a running server of the `workflow` profile',
      'returned it in the tests. X and the language model were those of the sandbox; nothing in the server',
      'was replaced.',
      '',
      '| Code | Tool | Cause |',
      '| --- | --- | --- |',
      ...observed.map(({ code, tool, cause }) => `| \`${code}\` | \`${tool}\` | ${cause} |`),
      '',
    ].join('\n');
    if (process.env['UPDATE_DOCS']) writeFileSync(page, text);
    expect(readFileSync(page, 'utf8')).toBe(text);
  });
});
