import { execFile } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ensureInstalled } from '../scripts/lib/install.mjs';
import { stage } from '../scripts/lib/stage.mjs';
import { readManifest, root, workspacePackages } from './support/workspace.js';

type PeerSet = 'oldest' | 'newest';
const peerSets = ['oldest', 'newest'] as const;
const peersOf = (end: PeerSet): string => join(root, 'test', 'peers', end);
const libraries = workspacePackages().filter(
  ({ folder, manifest }) => !manifest.private && folder !== 'cli',
);

const run = promisify(execFile);
const temp = realpathSync(mkdtempSync(join(tmpdir(), 'toolkeel-peers-')));

beforeAll(async () => {
  for (const end of peerSets) await ensureInstalled(peersOf(end));
  const used = libraries.filter(({ folder }) => !['sandbox', 'x'].includes(folder));
  await stage(
    join(temp, 'staged'),
    used.map(({ dir }) => dir),
  );
}, 180_000);

afterAll(() => rm(temp, { recursive: true, force: true }), 60_000);

const link = (target: string, path: string): void => {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
};

/**
 * A project with these peers in npm's layout: each package has its own dependencies and uses the peers of
 * the project. `ours`: gives the packages another zod than the project's.
 */
const project = (end: PeerSet, ours: PeerSet = end): string => {
  const dir = join(temp, `${end}-${ours}`);
  const modules = join(dir, 'node_modules');
  if (existsSync(modules)) return dir;
  cpSync(join(temp, 'staged'), modules, { recursive: true });
  const installed = join(peersOf(end), 'node_modules');
  for (const peer of Object.keys(readManifest(peersOf(end)).dependencies ?? {}))
    link(join(installed, peer), join(modules, peer));
  for (const tool of ['@types/node', '@modelcontextprotocol/client'])
    link(join(root, 'node_modules', tool), join(modules, tool));
  for (const { manifest } of libraries) {
    const own = join(modules, manifest.name, 'node_modules');
    for (const dependency of Object.keys(manifest.dependencies ?? {}))
      if (!dependency.startsWith('@toolkeel/'))
        link(join(root, 'node_modules', dependency), join(own, dependency));
    if (ours !== end) link(join(peersOf(ours), 'node_modules', 'zod'), join(own, 'zod'));
  }
  writeFileSync(join(dir, 'package.json'), '{ "private": true, "type": "module" }');
  return dir;
};

describe('the peers of the packages', () => {
  const oldest = readManifest(peersOf('oldest')).dependencies ?? {};

  test.each(['zod', '@opentelemetry/api'])('%s is never a dependency of a library', (peer) => {
    const pinned = libraries.filter(({ manifest }) => manifest.dependencies?.[peer]);
    expect(pinned.map(({ folder }) => folder)).toEqual([]);
    const ranges = libraries.flatMap(({ manifest }) => manifest.peerDependencies?.[peer] ?? []);
    const below = peer === 'zod' ? 5 : 2;
    expect(new Set(ranges)).toEqual(new Set([`>=${oldest[peer]} <${below}`]));
  });

  test('are also tested with the versions in the devDependencies of this repository', () => {
    const newest = readManifest(peersOf('newest')).dependencies ?? {};
    const host = libraries.find(({ folder }) => folder === 'host')?.manifest.devDependencies;
    for (const peer of ['zod', '@opentelemetry/api']) expect(newest[peer]).toBe(host?.[peer]);
  });
});

describe('a project that defines tools', () => {
  /** The compiler needs 20,000 instantiations; comparing two copies of zod takes 34 million. */
  const MAX_INSTANTIATIONS = 100_000;

  const compile = async (dir: string): Promise<number> => {
    cpSync(join(root, 'test', 'peers', 'consumer.ts'), join(dir, 'consumer.ts'));
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const options = ['--target', 'es2023', '--lib', 'es2023', '--module', 'nodenext', '--strict'];
    const report = ['--types', 'node', '--skipLibCheck', '--extendedDiagnostics'];
    const args = [tsc, 'consumer.ts', ...options, ...report];
    const { stdout } = await run(process.execPath, args, { cwd: dir, maxBuffer: 2 ** 26 });
    return Number(/^Instantiations: +(\d+)/m.exec(stdout)?.[1]);
  };

  const zodFor = (dir: string): string =>
    createRequire(join(dir, 'index.js')).resolve('zod/package.json');

  test.each([
    ['the oldest zod', 'oldest', 'oldest'],
    ['the newest zod', 'newest', 'newest'],
    ['a newer zod than the packages', 'newest', 'oldest'],
    ['an older zod than the packages', 'oldest', 'newest'],
  ] as const)(
    'compiles and runs with %s',
    async (_, end, ours) => {
      const dir = project(end, ours);
      expect(await compile(dir)).toBeLessThan(MAX_INSTANTIATIONS);
      expect(zodFor(dir)).toBe(join(peersOf(end), 'node_modules/zod/package.json'));
      const contract = join(dir, 'node_modules/@toolkeel/contract');
      expect(zodFor(contract)).toBe(join(peersOf(ours), 'node_modules/zod/package.json'));

      const program = `
        import { acceptControls } from '@toolkeel/contract';
        import { host, measure, tools } from './consumer.js';
        const [, rename] = tools.map(acceptControls);
        const { properties } = rename.inputSchema;
        const names = host.tools.map(({ name }) => name);
        console.log(JSON.stringify({ area: await measure(), properties, names }));`;
      const args = ['--input-type=module', '--eval', program];
      const { stdout } = await run(process.execPath, args, { cwd: dir });
      expect(JSON.parse(stdout)).toMatchObject({
        area: Math.PI,
        properties: {
          name: { type: 'string', minLength: 1, description: 'The new name.' },
          idempotency_key: { type: 'string' },
        },
        names: expect.arrayContaining(['area', 'rename', 'search_items']) as string[],
      });
    },
    60_000,
  );
});

/** Preloaded, as the SDK's documentation recommends. */
const sdk = `
  import { NodeSDK } from '@opentelemetry/sdk-node';
  const sdk = new NodeSDK({ serviceName: 'traced' });
  sdk.start();
  process.once('beforeExit', () => sdk.shutdown());`;

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
}

interface Export {
  readonly resourceSpans: { readonly scopeSpans: { readonly spans: readonly Span[] }[] }[];
}

test.each(peerSets)(
  'the %s OpenTelemetry SDK exports a span for each call and each attempt',
  async (end) => {
    const spans: Span[] = [];
    const receiver = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString()) as Export;
        for (const { scopeSpans } of resourceSpans)
          spans.push(...scopeSpans.flatMap((scope) => scope.spans));
        response.setHeader('content-type', 'application/json');
        response.end('{}');
      });
    });
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    try {
      const dir = project(end);
      cpSync(join(root, 'test', 'peers', 'traced.mjs'), join(dir, 'traced.mjs'));
      writeFileSync(join(dir, 'sdk.mjs'), sdk);
      const { port } = receiver.address() as AddressInfo;
      const env = {
        PATH: process.env['PATH'],
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        OTEL_METRICS_EXPORTER: 'none',
        OTEL_LOGS_EXPORTER: 'none',
      };
      const { stdout } = await run(process.execPath, ['--import', './sdk.mjs', 'traced.mjs'], {
        cwd: dir,
        env,
      });
      expect(JSON.parse(stdout)).toMatchObject({ success: true, meta: { retry_count: 1 } });
    } finally {
      receiver.close();
    }

    const call = spans.find(({ name }) => name === 'tools/call flaky');
    expect(spans.map(({ name }) => name).toSorted()).toEqual([
      'attempt 0',
      'attempt 1',
      'tools/call flaky',
    ]);
    const attempts = spans.filter((span) => span !== call);
    expect(attempts.map(({ parentSpanId }) => parentSpanId)).toEqual([call?.spanId, call?.spanId]);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  },
);
