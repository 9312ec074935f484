import { existsSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { inRoot } from './paths.mjs';

/**
 * @typedef {{ name: string, annotations?: object, inputSchema?: { properties?: object } }} Listed
 * @typedef {{ server: { name: string, version: string }, tools: { listed: Listed }[] }} Found
 * @typedef {{
 *   inspectUpstream: (options: object, timeoutMs: number) => Promise<Found>,
 *   upstreamSchema: { parse: (given: object) => object },
 * }} Guard
 * @typedef {{ loadConfig: (options: object) => object }} Host
 */

/**
 * @param {string} name of a package of this workspace
 * @returns {Promise<unknown>} the built package
 */
const built = (name) => import(pathToFileURL(inRoot('packages', name, 'dist', 'index.js')).href);

/**
 * Starts a server, records what it lists, and writes a profile without evidence if it has none.
 *
 * @param {{ name: string, from: string, version: string, command: string[] }} options
 * @returns {Promise<string[]>} the written files
 */
export const recordServer = async ({ name, from, version, command: [command, ...args] }) => {
  const { inspectUpstream, upstreamSchema } = /** @type {Guard} */ (await built('guard'));
  const { loadConfig } = /** @type {Host} */ (await built('host'));
  const found = await inspectUpstream(
    {
      loaded: loadConfig({ settings: { journal: { url: 'memory:' } }, only: [] }),
      name,
      config: upstreamSchema.parse({ command, args, profile: false }),
    },
    60_000,
  );
  const tools = found.tools.map(({ listed: { name: tool, annotations = {}, inputSchema } }) => ({
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
