import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createXPack, x } from '../src/index.js';
import { png } from '../src/media/files.fixture.js';
import { argumentsOf } from './support/arguments.js';
import { type Config, emptyWorkflow, secrets, useWorld } from './support/rig.js';
import { errorEnvelope, toolError, type PackWorkflow, type TextModel } from '@toolkeel/contract';
import { createPackRig, observeCodes, type PackRig, type Reply } from '@toolkeel/pack-kit/testing';

const { world } = useWorld();

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolkeel-codes-'));
  await writeFile(join(folder, 'picture.png'), png(50));
  await writeFile(join(folder, 'text.png'), 'text');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const limited = () => ({
  'x-rate-limit-limit': '1',
  'x-rate-limit-remaining': '0',
  'x-rate-limit-reset': String(Math.floor(Date.now() / 1000) + 60),
});

/** Responses of X and the resulting error codes. */
const replies: readonly (readonly [Reply, string])[] = [
  [{ status: 429, json: {}, headers: limited() }, 'x_rate_limited'],
  [{ status: 401, json: {} }, 'x_auth_expired'],
  [{ status: 403, json: {} }, 'x_forbidden'],
  [{ status: 403, json: { errors: [{ code: 64 }] } }, 'x_account_restricted'],
  [{ status: 402, json: {} }, 'x_credits_depleted'],
  [{ status: 409, json: {} }, 'upstream_rejected'],
  [{ status: 404, json: {} }, 'not_found'],
];

const expiredLogin = {
  version: 1,
  login_id: 'a',
  client_id: 'b',
  access_token: 'c',
  refresh_token: 'd',
  obtained_at: 0,
  expires_at: 0,
  scopes: [],
};

const specs = x.describe();

const meta = {
  toolVersion: '1',
  elapsedMs: 0,
  retryCount: 0,
  correlationId: 'c',
  profile: { name: 'workflow', mode: 'composer', approvalMode: true },
} as const;
const policyFailure = errorEnvelope(toolError('policy_error', 'No decision.').input, meta);

/** A model that fails, as the LLM pack reports it. */
const failingModel = (code: string): TextModel => {
  const fail = () =>
    Object.assign(new Error('The model failed.'), {
      fault: { kind: 'server', sent: 'answered' },
      provider: 'a',
      code,
      phase: 'stream',
      retriable: false,
      attempts: 1,
      partialText: '',
    } as const);
  return {
    name: 'a',
    complete: () => Promise.reject(fail()),
    stream: () => {
      throw fail();
    },
    health: () => Promise.resolve([]),
  };
};

const modelFailures = [
  ['server_error', 'llm_error'],
  ['not_configured', 'llm_not_configured'],
  ['blocked', 'upstream_rejected'],
  ['quota_exhausted', 'rate_limited'],
  ['auth', 'unauthorized'],
  ['unsupported', 'unsupported_by_upstream'],
] as const;

/** The codes of the tools that find, judge and write. `lost`: its database fails. */
async function noteAssistance(
  note: (tool: string, code: string, expected: string) => void,
  lost: PackRig,
  origin: string,
): Promise<void> {
  const noteAs = async (rig: PackRig, name: string, expected: string, args = argumentsOf[name]) =>
    note(name, await rig.code(name, args), expected);
  for (const name of [
    'find_reply_opportunities',
    'get_discovery_feed',
    'list_unreplied_tweets',
    'list_target_accounts',
    'draft_replies_for_candidates',
  ]) {
    await noteAs(lost, name, 'db_error');
  }
  await noteAs(lost, 'get_author_context', 'context_error');
  await noteAs(lost, 'recommend_engagement_action', 'recommendation_error');
  await noteAs(lost, 'topic_performance_snapshot', 'topic_error');
  await noteAs(lost, 'suggest_topics', 'topic_error');

  const asking = specs.filter(({ requires }) => requires.includes('llm')).map(({ name }) => name);
  const candidate = { kind: 'discovered', account: 'x:12', id: '1', at: 1, data: { text: 'a' } };
  const rigWith = async (model: TextModel, call?: PackWorkflow['call']): Promise<PackRig> => {
    const workflow = { ...emptyWorkflow(), ...(call && { call }) };
    await workflow.records.put(candidate);
    const config = { baseUrl: origin, accessToken: { env: 'USER' } };
    return createPackRig(createXPack({ env: secrets }), config, { workflow, model });
  };
  for (const [code, expected] of modelFailures) {
    const rig = await rigWith(failingModel(code));
    for (const name of asking) await noteAs(rig, name, expected);
    await rig.close();
  }
  for (const code of ['invalid_input', 'tweet_too_long'] as const) {
    const details = code === 'invalid_input' ? {} : { weighted_length: 300, limit: 280 };
    const failure = toolError(code, 'No.', { outcome: 'not_executed', details } as never);
    const answer = errorEnvelope(failure.input, meta);
    const rig = await rigWith(failingModel('server_error'), () => Promise.resolve(answer));
    await noteAs(rig, 'propose_and_queue_replies', code);
    await noteAs(rig, 'find_reply_opportunities', 'invalid_input', {});
    for (const name of ['generate_tweet', 'generate_thread']) {
      await noteAs(rig, name, 'invalid_input', {});
    }
    await rig.close();
  }
}

describe('error codes', () => {
  it('are exactly those that each tool declares', async () => {
    const config: Config = { maxRetries: 0, tier: 'enterprise', mediaDirectories: [folder] };
    const { note, verify } = observeCodes(specs);
    const needy = specs.filter(({ requires }) => requires.includes('x_client'));
    const all = async (
      reply: Reply,
      expected: (tool: string) => string,
      isMeant: (tool: string) => boolean = () => true,
      more: Config = {},
    ) => {
      for (const { name } of needy.filter((spec) => isMeant(spec.name))) {
        // A pack for each, because failures would open its circuit.
        const { rig } = await world(() => reply, { ...config, ...more });
        note(name, await rig.code(name, argumentsOf[name]), expected(name));
      }
    };
    for (const [reply, code] of replies) await all(reply, () => code);
    await all(
      {},
      () => 'x_not_configured',
      () => true,
      { accessToken: undefined },
    );
    const isOnce = (tool: string) => specs.find(({ name }) => name === tool)?.effect === 'once';
    // Only posts have an unknown outcome; the others keep the code of the cause.
    const brief = { toolTimeoutSecs: 3, attemptTimeoutSecs: 3 };
    for (const [reply, code] of [
      [{ act: 'reset' }, 'x_network_error'],
      [{ status: 500 }, 'x_api_error'],
    ] as const) {
      const once = needy.filter((spec) => isOnce(spec.name));
      // Concurrently, because they only wait.
      await Promise.all(
        once.map(({ name }) =>
          all(
            reply,
            () => 'outcome_unknown',
            (tool) => tool === name,
            brief,
          ),
        ),
      );
      await all(
        reply,
        () => code,
        (tool) => !isOnce(tool),
      );
    }

    // Posts that were not sent keep the code of the cause.
    const dead = await world(() => ({}), config);
    await dead.server.close();
    const posts = needy.filter(({ effect }) => effect === 'once').map(({ name }) => name);
    for (const name of posts) {
      note(name, await dead.rig.code(name, argumentsOf[name]), 'x_network_error');
    }
    const tokenFile = join(folder, 'x.json');
    await writeFile(tokenFile, JSON.stringify(expiredLogin), { mode: 0o600 });
    const unrenewed = await world(() => ({ status: 500 }), {
      ...config,
      accessToken: undefined,
      tokenFile,
    });
    for (const name of posts) {
      note(name, await unrenewed.rig.code(name, argumentsOf[name]), 'x_api_error');
    }
    // A preceding read fails like any read.
    const broken = await world(() => ({ status: 500 }), config);
    while ((await broken.rig.code('x_get_me')) !== 'circuit_open');
    for (const { name } of needy) {
      note(name, await broken.rig.code(name, argumentsOf[name]), 'circuit_open');
    }
    const { rig } = await world(() => ({ status: 500 }), config);
    for (const name of posts) {
      const [tooLong, empty] =
        name === 'x_post_thread'
          ? [{ tweets: ['a', 'b'.repeat(300)] }, { tweets: [' '] }]
          : [
              { ...argumentsOf[name], text: 'b'.repeat(300) },
              { ...argumentsOf[name], text: ' ' },
            ];
      note(name, await rig.code(name, tooLong), 'tweet_too_long');
      note(name, await rig.code(name, empty), 'invalid_input');
    }
    const uploads = [
      ['text.png', 'unsupported_media_type'],
      ['none.png', 'file_read_error'],
    ] as const;
    for (const [file_path, code] of uploads) {
      note('x_upload_media', await rig.code('x_upload_media', { file_path }), code);
    }
    const refused = await world(() => ({ status: 400, json: {} }), config);
    note(
      'x_upload_media',
      await refused.rig.code('x_upload_media', argumentsOf['x_upload_media']),
      'media_upload_error',
    );
    const half = await world(
      (_, count) => (count === 1 ? { status: 201, json: { data: { id: '1' } } } : { status: 403 }),
      config,
    );
    note(
      'x_post_thread',
      await half.rig.code('x_post_thread', argumentsOf['x_post_thread']),
      'thread_partial_failure',
    );
    const forged = await world(() => ({ json: {} }), config);
    for (const { name, paging } of specs) {
      if (!paging) continue;
      const args = { ...argumentsOf[name], pagination_token: 'forged' };
      note(name, await forged.rig.code(name, args), 'invalid_input');
    }
    const me = () => ({ json: { data: { id: '12', username: 'me' } } });
    const failing = () => Promise.reject(new Error('the disk is full'));
    const broke = { now: failing, get: failing, put: failing, list: failing, count: failing };
    const lost = await world(me, config, {
      records: { ...broke, remove: failing },
      operations: { list: failing, show: failing, withdraw: failing },
      call: () => Promise.resolve(undefined),
    });
    for (const name of ['list_drafts', 'list_pending_approvals', 'get_pending_count'] as const) {
      note(name, await lost.rig.code(name), 'db_error');
    }
    for (const name of ['get_action_log', 'get_recent_mutations', 'get_stats'] as const) {
      note(name, await lost.rig.code(name), 'db_error');
    }
    const { records, operations } = emptyWorkflow();
    const refusing = await world(me, config, {
      records,
      operations: {
        ...operations,
        show: (id) =>
          Promise.resolve({
            id,
            tool: 'x_delete_tweet',
            account: 'x:12',
            state: 'succeeded',
            created_at: '2026-01-01T00:00:00Z',
          }),
      },
      call: () => Promise.resolve(policyFailure),
    });
    note('x_undo', await refusing.rig.code('x_undo', { operation_id: 'op_1' }), 'invalid_input');
    for (const name of ['x_post_tweet_dry_run', 'x_post_thread_dry_run']) {
      note(name, await refusing.rig.code(name, argumentsOf[name]), 'policy_error');
    }
    for (const name of ['compose_tweet', 'update_draft']) {
      const long = { ...argumentsOf[name], tweets: ['b'.repeat(300)] };
      note(name, await refusing.rig.code(name, long), 'tweet_too_long');
      const empty = { ...argumentsOf[name], tweets: [' '] };
      note(name, await refusing.rig.code(name, empty), 'invalid_input');
    }
    await records.put({
      kind: 'draft',
      account: 'x:12',
      id: 'dr_1',
      at: 1,
      state: 'posted',
      data: { tweets: ['a'], revision: 1 },
    });
    note(
      'cancel_draft',
      await refusing.rig.code('cancel_draft', { draft_id: 'dr_1' }),
      'invalid_input',
    );
    const alone = await createPackRig(createXPack({ env: secrets }), {
      baseUrl: refusing.server.origin,
      accessToken: { env: 'USER' },
    });
    for (const name of ['get_mode', 'x_post_tweet_dry_run', 'x_post_thread_dry_run']) {
      note(name, await alone.code(name, argumentsOf[name]), 'db_error');
    }
    await alone.close();
    await noteAssistance(note, lost.rig, refusing.server.origin);
    expect(verify).not.toThrow();
  });
});
