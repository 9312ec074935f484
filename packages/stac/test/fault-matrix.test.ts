import { createPackRig, faultMatrix, upstreamFaults } from '@toolkeel/pack-kit/testing';
import { expect, it } from 'vitest';
import { createStacPack, stac } from '../src/index.js';

const argumentsOf: Readonly<Record<string, object>> = {
  get_collection: { collection_id: 'scenes' },
  get_item: { collection_id: 'scenes', item_id: 'a' },
};

const codes: Readonly<Record<string, string>> = {
  'no answer': 'timeout',
  '429': 'rate_limited',
  '401': 'unauthorized',
  '400': 'upstream_rejected',
  '403': 'forbidden',
  '404': 'not_found',
};

it('every tool answers every fault with its code, within the attempts of a read', async () => {
  // The sensor registry is built in: no upstream can fail it.
  const specs = stac.describe().filter(({ name }) => name !== 'get_sensor_registry_info');
  const cells = await faultMatrix({
    specs,
    argumentsOf: (tool) => argumentsOf[tool],
    start: ({ origin }, { kind }) =>
      createPackRig(createStacPack({ env: {} }), {
        builtinCatalogs: false,
        catalogs: { test: { url: origin } },
        ...(kind === 'timeout' && { toolTimeoutSecs: 3, attemptTimeoutSecs: 0.5 }),
      }),
    codeOf: ({ name }) => codes[name] ?? 'upstream_unavailable',
    maxRetries: 2,
  });
  expect(cells).toHaveLength(specs.length * upstreamFaults.length);
  const attemptsOf = (fault: string) =>
    new Set(cells.filter((cell) => cell.fault === fault).map(({ attempts }) => attempts));
  expect(attemptsOf('503')).toEqual(new Set([3]));
  expect(attemptsOf('404')).toEqual(new Set([1]));
}, 60_000);
