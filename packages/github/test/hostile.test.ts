import { runTool } from '@toolkeel/contract';
import { describe, expect, test } from 'vitest';
import type { Kit } from '../src/tools/kit.js';
import { githubTool } from '../src/tools/kit.js';
import * as specs from '../src/tools/specs/index.js';
import { closeAfterEach } from './support/rig.js';

closeAfterEach();

const broken = (): never => {
  throw new TypeError('a mistake of ours');
};

describe('a mistake in a handler', () => {
  test('is an internal error, not an unusable response of GitHub', async () => {
    const kit = {
      client: { clock: performance },
      config: { toolTimeoutSecs: 1 },
    } as unknown as Kit;
    const tool = githubTool(
      specs.listPulls,
      { ...kit, requireCredential: () => undefined },
      broken,
    );
    const seen: unknown[] = [];
    const { envelope } = await runTool(
      tool,
      { repo: 'o/r' },
      { onUnexpected: (one) => seen.push(one) },
    );
    expect(envelope).toMatchObject({ error: { code: 'internal_error' } });
    expect(seen).toMatchObject([{ message: 'a mistake of ours' }]);
  });
});
