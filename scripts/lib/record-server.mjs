import { existsSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { inRoot } from './paths.mjs';

const require = createRequire(import.meta.url);

/**
 * Starts a server, records what it lists, and writes a profile without evidence if it has none.
 *
 * @param {{ name: string, from: string, version: string, command: string[] }} options
 * @returns {Promise<string[]>} the written files
 */
export const recordServer = async ({ name, from, version, command: [command, ...args] }) => {
  const built = (/** @type {string} */ it) =>
    import(pathToFileURL(require.resolve(inRoot('packages', it, 'dist', 'index.js'))).href);
  const { inspectUpstream, upstreamSchema } = await built('guard');
  const { loadConfig } = await built('host');
  const found = await inspectUpstream(
    {
      loaded: loadConfig({ settings: { journal: { url: 'memory:' } }, only: [] }),
      name,
      config: upstreamSchema.parse({ command, args, profile: false }),
    },
    60_000,
  );
  /** @type {{ listed: { name: string, annotations?: object, inputSchema?: { properties?: object } } }[]} */
  const listed = found.tools;
  const tools = listed.map(({ listed: { name: tool, annotations = {}, inputSchema } }) => ({
    name: tool,
    annotations: Object.fromEntries(
      Object.entries(annotations).filter(([hint]) => hint !== 'title'),
    ),
    arguments: Object.keys(inputSchema?.properties ?? {}),
  }));
  const { server } = found;
  const listing = inRoot('packages', 'guard', 'test', 'listings', `${name}.json`);
  const source = 'Listed by the running server.';
  write(listing, { title: name, package: from, version, server, source, tools });
  const profile = inRoot('packages', 'guard', 'profiles', `${name}.json`);
  if (existsSync(profile)) return [listing];
  const entries = tools.map(({ name: tool, annotations, arguments: known }) => [
    tool,
    { effect: effectOf(annotations), arguments: known, evidence: '' },
  ]);
  write(profile, {
    server: server.name,
    versions: `=${server.version}`,
    package: from,
    examined: '',
    tools: Object.fromEntries(entries),
  });
  return [listing, profile];
};

/** @param {{ readOnlyHint?: unknown, idempotentHint?: unknown }} annotations */
const effectOf = ({ readOnlyHint, idempotentHint }) =>
  readOnlyHint === true ? 'read' : idempotentHint === true ? 'idempotent' : 'once';

/**
 * @param {string} file
 * @param {unknown} value
 */
const write = (file, value) => writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
