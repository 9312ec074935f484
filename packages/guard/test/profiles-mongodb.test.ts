import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ensureInstalled } from '../../../scripts/lib/install.mjs';
import { errorReader } from '../src/faults.js';
import { frameOf, type Message, type ResponseFrame } from '../src/frame.js';
import { knownProfiles } from '../src/profiles.js';
import { startMongo, type MongoDouble } from './support/mongo-world.js';
import { mongodbServer, packageOf } from './support/npm-servers.js';
import { textOf, useServerRig, type Repeated } from './support/server-rig.js';

// The server and its driver are the real ones, the database is a double on loopback.

const { dir, open, expectEffects } = useServerRig();
let mongo: MongoDouble;
beforeAll(() => ensureInstalled(mongodbServer), 180_000);
beforeEach(async () => {
  mongo = await startMongo();
});
afterEach(() => mongo.close());

const connection = { connectionId: 'preconfigured' };
const database = { ...connection, database: 'shop' };
const orders = { ...database, collection: 'orders' };
const classic = [{ type: 'classic', keys: { n: 1 } }];

const preload = new URL('support/report-pid.mjs', import.meta.url).href;
const pidFile = (): string => join(dir(), 'server.pid');
const openServer = () =>
  open('mongodb', {
    preload,
    env: {
      MDB_MCP_CONNECTION_STRING: mongo.url,
      MDB_MCP_TELEMETRY: 'disabled',
      TEST_PID_FILE: pidFile(),
    },
  });

/** The database performs the next command that starts so, and the server is killed before it is answered. */
const killDuring = (start: string): void =>
  mongo.fail(start, {
    instead: () => {
      mongo.fail(start);
      process.kill(Number(readFileSync(pidFile(), 'utf8')), 'SIGKILL');
    },
  });

const faultOf = (answer: Message, tool: string) => {
  const profile = knownProfiles.find((one) => one.package === packageOf('mongodb'));
  const rules = profile?.errors.map(({ rule }) => rule);
  return errorReader(rules).fault(frameOf(answer) as ResponseFrame, tool);
};

describe('the profile of the server of MongoDB', () => {
  it('holds for repeated calls', async () => {
    const client = await openServer();
    const documents = [
      { _id: 1, n: 1 },
      { _id: 2, n: 1 },
    ];
    const fill = () => client.call('insert-many', { ...orders, documents });
    const differs = (first: Message, second: Message): boolean => textOf(first) !== textOf(second);
    const added = { $set: { n: { $add: ['$n', '$$new.n'] } } };
    const find = { name: 'find', arguments: { filter: { n: 1 } } };
    const target = { name: 'aggregate', arguments: { pipeline: [{ $match: { n: 1 } }] } };

    const reads: readonly Repeated[] = [
      { tool: 'list-databases', args: connection, effect: 'read', before: fill },
      { tool: 'list-collections', args: database, effect: 'read' },
      { tool: 'list-connections', args: {}, effect: 'read' },
      { tool: 'collection-indexes', args: orders, effect: 'read' },
      { tool: 'collection-schema', args: orders, effect: 'read' },
      { tool: 'collection-storage-size', args: orders, effect: 'read' },
      { tool: 'db-stats', args: database, effect: 'read' },
      { tool: 'mongodb-logs', args: connection, effect: 'read' },
      { tool: 'find', args: { ...orders, filter: { n: 1 } }, effect: 'read' },
      { tool: 'count', args: { ...orders, query: { n: 1 } }, effect: 'read' },
      { tool: 'explain', args: { ...orders, method: [find] }, effect: 'read' },
      { tool: 'explain', args: { ...orders, method: [target] }, effect: 'read' },
      { tool: 'aggregate', args: { ...orders, pipeline: [{ $match: { n: 1 } }] }, effect: 'read' },
      {
        tool: 'aggregate-db',
        args: { ...database, pipeline: [{ $documents: [{ n: 1 }] }] },
        effect: 'read',
      },
    ];
    await expectEffects(reads, mongo.state, Object.keys(profiledTools()));
    // Not one but that of `fill`, although the driver sends several commands for some of them.
    expect(mongo.writes()).toEqual(['insert shop.orders']);
    expect(mongo.commands.length).toBeGreaterThan(2 * reads.length);

    const state = (): unknown => [mongo.state(), mongo.connections() > 0];
    const again = { ...orders, collection: 'again' };
    const create = () => client.call('create-collection', again);
    const index = () => client.call('create-index', { ...orders, definition: classic });
    await expectEffects(
      [
        { tool: 'create-collection', args: again, effect: 'idempotent' },
        { tool: 'create-index', args: { ...orders, definition: classic }, effect: 'idempotent' },
        {
          tool: 'aggregate',
          args: { ...orders, pipeline: [{ $set: { n: { $add: ['$n', 1] } } }, { $out: 'orders' }] },
          effect: 'once',
        },
        {
          tool: 'aggregate',
          args: { ...orders, pipeline: [{ $merge: { into: 'totals', whenMatched: [added] } }] },
          before: () => client.call('insert-many', { ...orders, collection: 'totals', documents }),
          effect: 'once',
        },
        {
          tool: 'aggregate-db',
          args: {
            ...database,
            pipeline: [
              { $documents: [{ _id: 1, n: 5 }] },
              { $merge: { into: 'totals', whenMatched: [added] } },
            ],
          },
          effect: 'once',
        },
        { tool: 'insert-many', args: { ...orders, documents: [{ n: 7 }] }, effect: 'once' },
        {
          tool: 'update-many',
          args: { ...orders, filter: { _id: 1 }, update: { $inc: { n: 1 } } },
          effect: 'once',
        },
        { tool: 'delete-many', args: orders, effect: 'once', meanwhile: fill },
        {
          tool: 'drop-index',
          args: { ...orders, indexName: 'n_1', type: 'classic' },
          effect: 'once',
          meanwhile: index,
        },
        {
          tool: 'rename-collection',
          args: { ...again, newName: 'renamed', dropTarget: true },
          effect: 'once',
          meanwhile: create,
        },
        {
          tool: 'drop-collection',
          args: again,
          effect: 'once',
          before: create,
          meanwhile: create,
        },
        {
          tool: 'export',
          args: { ...orders, exportTitle: 't', exportTarget: [find] },
          effect: 'once',
          again: differs,
        },
        { tool: 'drop-database', args: database, effect: 'once', meanwhile: fill },
        {
          tool: 'connect',
          args: { connectionString: mongo.url },
          effect: 'once',
          again: differs,
        },
      ],
      state,
      ['disconnect'],
    );
    const known = async () => textOf(await client.call('list-connections', {}));
    const before = await known();
    const opened = await client.call('connect', { connectionString: mongo.url });
    const { connectionId } = opened.result!['structuredContent'] as { connectionId: string };
    expect(await known()).not.toBe(before);
    expect(textOf(await client.call('disconnect', { connectionId }))).toContain('Disconnected.');
    expect(await known()).toBe(before);
    expect(textOf(await client.call('disconnect', { connectionId }))).toContain('does not exist');
    expect(await known()).toBe(before);
  });

  it('holds for lost answers and errors of the database', async () => {
    const client = await openServer();
    const insert = { ...orders, documents: [{ n: 1 }] };
    const count = (name: string): number =>
      mongo.commands.filter((one) => one.startsWith(`${name} `)).length;

    killDuring('insert');
    const lost = await client.call('insert-many', insert);
    expect(textOf(lost)).toContain('"outcome_unknown"');
    killDuring('createIndexes');
    const index = await client.call('create-index', { ...orders, definition: classic });
    expect(textOf(index)).toContain('Created the index "n_1"');
    expect(textOf(await client.call('insert-many', insert))).toContain('"outcome_unknown"');
    const sum = [{ $merge: { into: 'totals' } }];
    killDuring('aggregate shop.orders $merge');
    const merged = await client.call('aggregate', { ...orders, pipeline: sum });
    expect(textOf(merged)).toContain('"outcome_unknown"');
    expect(mongo.writes()).toEqual([
      'insert shop.orders',
      'createIndexes shop.orders',
      'createIndexes shop.orders',
      'aggregate shop.orders $merge',
    ]);

    // A connection that breaks: the driver repeats what is safe, and the database performs that once.
    mongo.fail('insert', { lose: true });
    const broken = await client.call('insert-many', { ...orders, documents: [{ n: 2 }] });
    expect(textOf(broken)).toContain(' closed');
    expect([count('insert'), mongo.state().match(/"n":2/g)]).toEqual([3, ['"n":2']]);
    expect(faultOf(broken, 'insert-many')?.kind).toBe('server');

    const errors = [
      [10_107, 'NotWritablePrimary', 'not primary', 'server'],
      [189, 'PrimarySteppedDown', 'Primary stepped down while waiting for replication', 'server'],
      [11_602, 'InterruptedDueToReplStateChange', 'operation was interrupted', 'server'],
      [11_600, 'InterruptedAtShutdown', 'interrupted at shutdown', 'server'],
      [91, 'ShutdownInProgress', 'The server is in quiesce mode and will shut down', 'server'],
      [462, 'IngressRequestRateLimitExceeded', 'Rate limit exceeded', 'rate_limited'],
      [50, 'MaxTimeMSExpired', 'operation exceeded time limit', undefined],
      [13, 'Unauthorized', 'not authorized on shop to execute command', undefined],
    ] as const;
    for (const [code, codeName, errmsg, kind] of errors) {
      mongo.fail('insert', { reply: { code, codeName, errmsg } });
      const before = mongo.commands.length;
      const answer = await client.call('insert-many', { ...orders, documents: [{ code }] });
      expect(textOf(answer)).toBe(`Error running insert-many: ${errmsg}`);
      expect([code, faultOf(answer, 'insert-many')?.kind]).toEqual([code, kind]);
      expect(mongo.commands.length - before).toBe(1);
    }
    mongo.fail('insert');
    const documents = [{ _id: 1 }];
    await client.call('insert-many', { ...orders, documents });
    const duplicate = await client.call('insert-many', { ...orders, documents });
    expect(textOf(duplicate)).toContain('E11000 duplicate key error');
    expect(faultOf(duplicate, 'insert-many')).toBeUndefined();
  });
});

function profiledTools(): Readonly<Record<string, unknown>> {
  return knownProfiles.find((one) => one.package === packageOf('mongodb'))?.tools ?? {};
}
