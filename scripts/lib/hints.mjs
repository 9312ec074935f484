import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readJson } from './json.mjs';
import { inRoot } from './paths.mjs';

/**
 * @typedef {'read' | 'idempotent' | 'once'} Effect
 * @typedef {{ name: string, annotations: Record<string, unknown>, arguments: string[] }} ListedTool
 * @typedef {{
 *   title: string, package: string, version: string, source: string,
 *   server: { name: string, version: string }, tools: ListedTool[],
 * }} Listing
 * @typedef {{ effect?: Effect, when?: { effect: Effect }[], evidence: string }} ProfiledTool
 * @typedef {{ server: string, package: string, examined: string, tools: Record<string, ProfiledTool> }} Profile
 * @typedef {'right' | 'read_missing' | 'read_wrong' | 'idempotent_missing' | 'idempotent_wrong' | 'mixed'} Verdict
 */

/**
 * @template T
 * @param {string} folder
 * @returns {T[]}
 */
const readAll = (folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .toSorted()
    .map((name) => readJson(join(folder, name)));

/** @returns {Listing[]} recorded listings of servers */
export const listings = () => readAll(inRoot('packages', 'guard', 'test', 'listings'));

/** @returns {Profile[]} */
const profiles = () => readAll(inRoot('packages', 'guard', 'profiles'));

/**
 * What the hints of a tool are worth for a caller that decides whether a call may be repeated.
 *
 * @param {ListedTool} tool
 * @param {ProfiledTool | undefined} entry
 * @returns {Verdict}
 */
const judge = ({ annotations }, entry) => {
  const declared =
    annotations['readOnlyHint'] === true
      ? 'read'
      : annotations['idempotentHint'] === true
        ? 'idempotent'
        : 'once';
  // A tool without an entry counts as right, so that the table never claims more than the profiles show.
  if (entry?.when) return 'mixed';
  const effect = entry?.effect ?? declared;
  if (effect === declared) return 'right';
  if (declared === 'read') return 'read_wrong';
  if (effect === 'read') return 'read_missing';
  return effect === 'idempotent' ? 'idempotent_missing' : 'idempotent_wrong';
};

/**
 * @param {ListedTool} tool
 * @param {ProfiledTool | undefined} entry
 * @returns {Effect | 'mixed'} what the guard assumes
 */
const assumed = ({ annotations }, entry) => {
  if (entry?.when) return 'mixed';
  return entry?.effect ?? (annotations['readOnlyHint'] === true ? 'read' : 'once');
};

/** @param {readonly string[]} cells */
const row = (cells) => `| ${cells.join(' | ')} |`;

const COLUMNS = [
  'server',
  'version',
  'tools',
  '**wrong or missing**',
  'read without `readOnlyHint`',
  '`readOnlyHint` but it acts',
  'idempotent without the hint',
  'idempotent hint but it acts again',
  'depends on arguments',
  'retried',
  'by argument',
  'never repeated',
];

/** The table of known servers as Markdown. */
export const hintsTable = () => {
  const known = profiles();
  const rows = listings().map((listing) => {
    const profile = known.find((one) => one.package === listing.package);
    const verdicts = listing.tools.map((tool) => judge(tool, profile?.tools[tool.name]));
    const effects = listing.tools.map((tool) => assumed(tool, profile?.tools[tool.name]));
    const count = (/** @type {readonly string[]} */ all, /** @type {string[]} */ ...wanted) =>
      String(all.filter((one) => wanted.includes(one)).length);
    return row([
      listing.title,
      listing.version,
      String(listing.tools.length),
      `**${verdicts.filter((one) => one !== 'right').length}**`,
      count(verdicts, 'read_missing'),
      count(verdicts, 'read_wrong'),
      count(verdicts, 'idempotent_missing'),
      count(verdicts, 'idempotent_wrong'),
      count(verdicts, 'mixed'),
      count(effects, 'read', 'idempotent'),
      count(effects, 'mixed'),
      count(effects, 'once'),
    ]);
  });
  return [row(COLUMNS), row(COLUMNS.map(() => '---')), ...rows].join('\n');
};

/** Each tool whose hints are wrong, missing or not enough, with the evidence. */
export const hintsDetails = () => {
  const known = profiles();
  return listings()
    .flatMap((listing) => {
      const profile = known.find((one) => one.package === listing.package);
      const lines = listing.tools.flatMap((tool) => {
        const entry = profile?.tools[tool.name];
        if (!entry || judge(tool, entry) === 'right') return [];
        return [`- \`${tool.name}\`: ${assumed(tool, entry)}. ${entry.evidence}`];
      });
      if (lines.length === 0) return [];
      return [
        `### ${listing.title}`,
        '',
        `${listing.source} \`${listing.package}\``,
        '',
        // What evidence is worth: a double is not the real service.
        `Examined: ${profile?.examined}`,
        '',
        ...lines,
        '',
      ];
    })
    .join('\n')
    .trimEnd();
};
