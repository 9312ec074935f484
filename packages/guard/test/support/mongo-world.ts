import { BSON, Long } from 'bson';
import { aggregated, isWriteStage, matches, same } from './mongo-pipeline.js';
import { startWire, type Document } from './mongo-wire.js';

interface Collection {
  docs: Document[];
  indexes: Document[];
}

/** An error as MongoDB reports it. */
class Refusal extends Error {
  readonly reply: Document;

  constructor(code: number, codeName: string, errmsg: string, more: Document = {}) {
    super(errmsg);
    this.reply = { ok: 0, errmsg, code, codeName, ...more };
  }
}

/** What happens to a command, in the place of or after what it does. */
type Failure =
  | { readonly reply: Document }
  /** Performed, but never answered: the connection breaks. */
  | { readonly lose: true }
  /** Performed, and this is done instead of an answer. */
  | { readonly instead: () => void };

/** A MongoDB on loopback that keeps everything in memory: a primary of a replica set. */
export interface MongoDouble {
  readonly url: string;
  /** All commands but those of the driver itself: `insert shop.orders`, `aggregate shop.orders $merge`. */
  readonly commands: string[];
  /** Those that change something. */
  readonly writes: () => readonly string[];
  /** All that is kept. */
  readonly state: () => string;
  readonly connections: () => number;
  /** Fails the commands that start so, until it is called without a failure. */
  readonly fail: (start: string, failure?: Failure) => void;
  readonly close: () => Promise<void>;
}

const OF_DRIVER: ReadonlySet<string> = new Set([
  'hello',
  'ismaster',
  'isMaster',
  'ping',
  'endSessions',
  'killCursors',
  'buildInfo',
  'getParameter',
  'connectionStatus',
]);
const WRITES =
  /^(insert|update|delete|create|createIndexes|dropIndexes|drop|dropDatabase|renameCollection) |\$(out|merge)$/;

export async function startMongo(): Promise<MongoDouble> {
  const databases = new Map<string, Map<string, Collection>>();
  const commands: string[] = [];
  const failures = new Map<string, Failure>();
  const settled = new Map<string, Document>();

  const collectionsOf = (db: string): Map<string, Collection> => {
    const found = databases.get(db) ?? new Map<string, Collection>();
    databases.set(db, found);
    return found;
  };
  const find = (db: string, name: string): Collection | undefined => databases.get(db)?.get(name);
  const existing = (db: string, name: string): Collection => {
    const found = find(db, name);
    if (!found) throw new Refusal(26, 'NamespaceNotFound', `ns not found ${db}.${name}`);
    return found;
  };
  const made = (db: string, name: string): Collection => {
    const found = find(db, name) ?? {
      docs: [],
      indexes: [{ v: 2, key: { _id: 1 }, name: '_id_' }],
    };
    collectionsOf(db).set(name, found);
    return found;
  };
  const cursor = (ns: string, firstBatch: readonly Document[]): Document => ({
    cursor: { id: Long.ZERO, ns, firstBatch },
  });

  const insert = (db: string, name: string, docs: readonly Document[]): Document => {
    const into = made(db, name);
    const writeErrors: Document[] = [];
    for (const [index, doc] of docs.entries()) {
      if (into.docs.some(({ _id }) => same(_id, doc['_id']))) {
        const errmsg = `E11000 duplicate key error collection: ${db}.${name} index: _id_ dup key: { _id: ${JSON.stringify(doc['_id'])} }`;
        writeErrors.push({ index, code: 11_000, errmsg, keyPattern: { _id: 1 } });
        break;
      }
      into.docs.push(doc);
    }
    const [refused] = writeErrors;
    return { n: refused ? refused['index'] : docs.length, ...(refused && { writeErrors }) };
  };

  const update = (db: string, name: string, updates: readonly Document[]): Document => {
    const { docs } = made(db, name);
    let [n, nModified] = [0, 0];
    for (const { q, u } of updates as readonly { q: Document; u: Document }[]) {
      for (const doc of docs.filter((one) => matches(one, q))) {
        const before = BSON.EJSON.stringify(doc);
        for (const [field, by] of Object.entries((u['$inc'] ?? {}) as Document))
          doc[field] = Number(doc[field] ?? 0) + Number(by);
        Object.assign(doc, u['$set']);
        n++;
        if (BSON.EJSON.stringify(doc) !== before) nModified++;
      }
    }
    return { n, nModified };
  };

  const remove = (db: string, name: string, deletes: readonly Document[]): Document => {
    const from = made(db, name);
    const before = from.docs.length;
    for (const { q } of deletes)
      from.docs = from.docs.filter((doc) => !matches(doc, q as Document));
    return { n: before - from.docs.length };
  };

  const aggregate = (db: string, name: unknown, pipeline: readonly Document[]): Document => {
    const source = typeof name === 'string' ? find(db, name) : undefined;
    const write = pipeline.find(isWriteStage);
    const stages = pipeline.filter((stage) => stage !== write);
    if (stages.some((stage) => '$listSearchIndexes' in stage))
      throw new Refusal(31_082, 'SearchNotEnabled', 'Using Atlas Search requires Atlas');
    const docs = aggregated(source?.docs ?? [], stages);
    if (typeof write?.['$out'] === 'string') made(db, write['$out']).docs = docs;
    const merge = write?.['$merge'] as { into: string; whenMatched?: Document[] } | undefined;
    if (merge) {
      const target = made(db, merge.into);
      for (const doc of docs) {
        const old = target.docs.find(({ _id }) => same(_id, doc['_id']));
        if (!old) target.docs.push(doc);
        else Object.assign(old, aggregated([old], merge.whenMatched ?? [{ $set: doc }], doc)[0]);
      }
    }
    return cursor(`${db}.${String(name)}`, write ? [] : docs);
  };

  const perform = (name: string, db: string, command: Document): Document => {
    const target = String(command[name]);
    const list = (member: string): Document[] => command[member] as Document[];
    const ns = `${db}.${target}`;
    switch (name) {
      case 'hello':
      case 'ismaster':
      case 'isMaster':
        return hello();
      case 'buildInfo':
        return { version: '8.0.4', versionArray: [8, 0, 4, 0], modules: [] };
      case 'ping':
      case 'endSessions':
      case 'killCursors':
        return {};
      case 'listDatabases':
        return {
          databases: [...databases].map(([one]) => ({ name: one, sizeOnDisk: 1, empty: false })),
        };
      case 'listCollections': {
        const found = [...(databases.get(db) ?? [])].map(([one]) => ({
          name: one,
          type: 'collection',
          options: {},
          info: { readOnly: false },
        }));
        return cursor(`${db}.$cmd.listCollections`, found);
      }
      case 'listIndexes':
        return cursor(ns, existing(db, target).indexes);
      case 'dbStats':
        return { db, collections: databases.get(db)?.size ?? 0 };
      case 'getLog':
        return { totalLinesWritten: 1, log: ['started\n'] };
      case 'explain':
        return { queryPlanner: { winningPlan: { stage: 'COLLSCAN' } } };
      case 'count':
        return { n: (find(db, target)?.docs ?? []).length };
      case 'find': {
        const docs = (find(db, target)?.docs ?? []).filter((doc) =>
          matches(doc, (command['filter'] ?? {}) as Document),
        );
        return cursor(ns, docs);
      }
      case 'aggregate':
        return command['explain'] === true
          ? { queryPlanner: {} }
          : aggregate(db, command[name], list('pipeline'));
      case 'insert':
        return insert(db, target, list('documents'));
      case 'update':
        return update(db, target, list('updates'));
      case 'delete':
        return remove(db, target, list('deletes'));
      case 'create':
        // Since 7.0 it succeeds if the collection exists with the same options.
        made(db, target);
        return {};
      case 'createIndexes': {
        const { indexes } = made(db, target);
        const numIndexesBefore = indexes.length;
        for (const index of list('indexes'))
          if (!indexes.some((one) => one['name'] === index['name'])) indexes.push(index);
        return { numIndexesBefore, numIndexesAfter: indexes.length };
      }
      case 'dropIndexes': {
        const found = existing(db, target);
        const { index } = command as { index: string };
        if (!found.indexes.some((one) => one['name'] === index))
          throw new Refusal(27, 'IndexNotFound', `index not found with name [${index}]`);
        found.indexes = found.indexes.filter((one) => one['name'] !== index);
        return { nIndexesWas: found.indexes.length + 1 };
      }
      case 'drop':
        // Since 7.0 it succeeds if there is no such collection.
        databases.get(db)?.delete(target);
        return {};
      case 'dropDatabase':
        return { ...(databases.delete(db) && { dropped: db }) };
      case 'renameCollection': {
        const [from, to] = [target, String(command['to'])].map((one) => one.split('.')) as [
          [string, string],
          [string, string],
        ];
        const moved = existing(...from);
        if (find(...to) && command['dropTarget'] !== true)
          throw new Refusal(48, 'NamespaceExists', 'target namespace exists');
        databases.get(from[0])?.delete(from[1]);
        collectionsOf(to[0]).set(to[1], moved);
        return {};
      }
      default:
        throw new Refusal(59, 'CommandNotFound', `no such command: '${name}'`);
    }
  };

  const hello = (): Document => ({
    helloOk: true,
    isWritablePrimary: true,
    ismaster: true,
    setName: 'rs',
    hosts: [`127.0.0.1:${server.port}`],
    me: `127.0.0.1:${server.port}`,
    primary: `127.0.0.1:${server.port}`,
    secondary: false,
    maxBsonObjectSize: 16_777_216,
    maxMessageSizeBytes: 48_000_000,
    maxWriteBatchSize: 100_000,
    localTime: new Date(),
    logicalSessionTimeoutMinutes: 30,
    connectionId: 1,
    minWireVersion: 0,
    maxWireVersion: 25,
    readOnly: false,
  });

  const server = await startWire((command) => {
    const [name = ''] = Object.keys(command);
    const { $db: db = 'admin' } = command as { $db?: string };
    const description = described(name, db, command);
    if (!OF_DRIVER.has(name)) commands.push(description);
    // A retryable write is performed once, whatever the number of its attempts.
    const { lsid, txnNumber } = command;
    const attempt = txnNumber === undefined ? '' : BSON.EJSON.stringify([lsid, txnNumber]);
    const [, failure] =
      [...failures].find(([start]) => `${description} `.startsWith(`${start} `)) ?? [];
    if (failure && 'reply' in failure) return { ok: 0, ...failure.reply };
    let reply: Document;
    try {
      reply = { ok: 1, ...(settled.get(attempt) ?? perform(name, db, command)) };
      if (attempt !== '') settled.set(attempt, reply);
    } catch (cause) {
      if (!(cause instanceof Refusal)) throw cause;
      reply = cause.reply;
    }
    if (!failure) return reply;
    if ('instead' in failure) failure.instead();
    return undefined;
  });
  return {
    url: `mongodb://127.0.0.1:${server.port}/?directConnection=true`,
    commands,
    writes: () => commands.filter((one) => WRITES.test(one)),
    state: () =>
      BSON.EJSON.stringify([...databases].map(([db, collections]) => [db, [...collections]])),
    connections: server.connections,
    fail: (start, failure) => {
      if (failure) failures.set(start, failure);
      else failures.delete(start);
    },
    close: server.close,
  };
}

function described(name: string, db: string, command: Document): string {
  const target = command[name];
  const ns = typeof target === 'string' ? `${db}.${target}` : db;
  const stages = name === 'aggregate' ? (command['pipeline'] as Document[]) : [];
  const [last = ''] = Object.keys(stages.at(-1) ?? {});
  return [name, ns, ...(last.startsWith('$') ? [last] : [])].join(' ');
}
