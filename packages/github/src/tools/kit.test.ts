import { runTool } from '@toolkeel/contract';
import { recordingJournal } from '@toolkeel/pack-kit/testing';
import { describe, expect, test } from 'vitest';
import { githubTool, type Kit } from './kit.js';
import * as specs from './specs/index.js';

const kit = {
  client: { clock: performance },
  config: { toolTimeoutSecs: 1, account: 'default' },
  requireCredential: () => undefined,
  identity: { resolve: async () => ({ id: 'github:1' }) },
} as unknown as Kit;

const broken = (): never => {
  throw new TypeError('a mistake of ours');
};

describe('a mistake in a handler', () => {
  test('is an internal error, not an unusable response of GitHub', async () => {
    const seen: unknown[] = [];
    const onUnexpected = (cause: unknown) => seen.push(cause);
    const tool = githubTool(specs.listPulls, kit, broken);
    const { envelope } = await runTool(tool, { repo: 'o/r' }, { onUnexpected });
    expect(envelope).toMatchObject({ error: { code: 'internal_error' } });
    expect(seen).toMatchObject([{ message: 'a mistake of ours' }]);
  });

  test('after a send leaves the outcome unknown', async () => {
    const { middleware, sends } = recordingJournal();
    const tool = githubTool(specs.comment, kit, async (_, call) => {
      await call.send(async () => undefined);
      return broken();
    });
    const { envelope } = await runTool(tool, { repo: 'o/r', number: 1, body: 'x' }, { middleware });
    expect(sends).toHaveLength(1);
    expect(envelope).toMatchObject({ error: { code: 'internal_error', outcome: 'unknown' } });
  });
});
