import { envelopeSchema } from '@toolkeel/contract';
import { startStacSandbox } from '@toolkeel/sandbox';
import { stac } from '@toolkeel/stac';
import { afterEach, expect, it } from 'vitest';
import { useTempDir } from '../src/runtime.fixture.js';
import { callAll, describeArguments, fuzzArguments } from './support/arguments.js';
import { overHttp } from './support/client.js';
import { endAll, toolkeel } from './support/process.js';
import { writeStacConfig } from './support/stac.js';

const dir = useTempDir();

afterEach(endAll);

describeArguments(200);

it('over HTTP, refused arguments cause no upstream request', async () => {
  const upstream = await startStacSandbox({ scale: 0.05 });
  writeStacConfig(dir(), { box: { url: upstream.url } });
  const place = { cwd: dir(), env: { TOOLKEEL_DATA_DIR: dir() } };
  const run = toolkeel(['serve', 'stac', '--http', '127.0.0.1:0'], place);
  const [, url = ''] = await run.waitForOutput(/MCP at (\S+)/);
  const client = await overHttp(url);
  for (const spec of stac.describe()) {
    const { refused } = fuzzArguments(spec, 20, 1);
    for (const envelope of await callAll(client, spec.name, refused, 2)) {
      expect(envelope).toMatchObject({ error: { code: 'validation_error' } });
      expect(envelopeSchema.safeParse(envelope).error).toBeUndefined();
    }
  }
  expect(upstream.counts().requests).toBe(0);
  expect(await client.call('get_root')).toMatchObject({ success: true });
  await client.close();
  await upstream.close();
}, 60_000);
