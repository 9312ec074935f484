import { posix } from 'node:path';
import { anchorOf, readPage, type Block, type Located, type Page } from './markdown.js';

/** Pages and the targets they may refer to. Paths are relative to the repository root. */
export interface Documentation {
  readonly pages: ReadonlyMap<string, string>;
  readonly scripts: ReadonlySet<string>;
  exists(path: string): boolean;
}

/** Problems of all pages as "page:line message". */
export const problemsIn = (documentation: Documentation): string[] => {
  const pages = new Map([...documentation.pages].map(([path, text]) => [path, readPage(text)]));
  return [...pages].flatMap(([path, page]) => [
    ...at(path, page.links, (target) => linkProblem(path, target, documentation, pages)),
    ...at(path, page.snippets, (code) => commandProblem(code, documentation.scripts)),
    ...at(path, page.snippets, (code) => fileProblem(code, documentation)),
    ...at(path, page.blocks.map(infoOnly), uncheckedProblem),
    ...adrProblems(path, page),
  ]);
};

const at = (
  path: string,
  places: readonly Located[],
  problemOf: (text: string) => string | undefined,
): string[] =>
  places.flatMap(({ line, text }) => {
    const problem = problemOf(text);
    return problem ? [`${path}:${line} ${problem}`] : [];
  });

const linkProblem = (
  from: string,
  target: string,
  documentation: Documentation,
  pages: ReadonlyMap<string, Page>,
): string | undefined => {
  if (/^[a-z][a-z\d+.-]*:/i.test(target)) return undefined; // external links are not tested
  const [file = '', anchor] = target.split('#');
  const path = file ? posix.join(posix.dirname(from), file) : from;
  if (path.startsWith('..')) return `links out of the repository: ${target}`;
  if (!documentation.exists(path)) return `links to ${target}, which does not exist`;
  const headings = pages.get(path)?.headings;
  if (anchor && headings && !headings.some(({ text }) => anchorOf(text) === anchor))
    return `links to ${target}, but ${path} has no such heading`;
  return undefined;
};

/** npm's own commands; every other command must be a script in package.json. */
const npmOwn = new Set('ci exec help i init install ls pack publish version view'.split(' '));

const commandProblem = (code: string, scripts: ReadonlySet<string>): string | undefined => {
  for (const [, run, name = ''] of code.matchAll(/(?<![\w/-])npm (run |run-script )?([\w:-]+)/g)) {
    if (run ? !scripts.has(name) : !scripts.has(name) && !npmOwn.has(name))
      return `names "npm ${run ?? ''}${name}", which package.json does not have`;
    const shorthand = ['start', 'test', 'stop', 'restart'].includes(name);
    if (!run && !shorthand && !npmOwn.has(name)) return `"npm ${name}" must be "npm run ${name}"`;
  }
  return undefined;
};

/** Paths relative to the root. Built and installed files are not checked. */
const PATH = /(?<![\w./@-])(?:\.ci|bench|docs|examples|packages|scripts|test)\/[\w./@*-]*[\w/*]/g;

const fileProblem = (code: string, documentation: Documentation): string | undefined => {
  const missing = [...code.matchAll(PATH)]
    .map(([path]) => path)
    .filter((path) => !/(^|\/)(dist|node_modules)(\/|$)/.test(path))
    .find((path) => !path.includes('*') && !path.includes('NNN') && !documentation.exists(path));
  return missing && `names ${missing}, which does not exist`;
};

const infoOnly = ({ line, info }: Block): Located => ({ line, text: info });

const uncheckedProblem = (info: string): string | undefined =>
  /^(ts|typescript)\b.*\bno-check\b/.test(info) && !/\bno-check:\s*\S+/.test(info)
    ? 'is not checked and gives no reason: write "ts no-check: the reason"'
    : undefined;

/** TypeScript blocks that must compile. */
export const codeIn = (text: string): Block[] =>
  readPage(text).blocks.filter(
    ({ info }) => /^(ts|typescript)\b/.test(info) && !/\bno-check\b/.test(info),
  );

const ADR_HEADINGS = ['Status', 'Context', 'Decision', 'Consequences'];

const adrProblems = (path: string, { headings }: Page): string[] => {
  const [, name] = /^docs\/adr\/(.+)$/.exec(path) ?? [];
  if (!name || name === 'README.md') return [];
  const [, number] = /^(\d{3})-[a-z\d]+(?:-[a-z\d]+)*\.md$/.exec(name) ?? [];
  if (!number) return [`${path}:1 is not named NNN-title.md`];
  const problems: string[] = [];
  const [title] = headings;
  if (title?.level !== 1 || !title.text.startsWith(`${number}. `))
    problems.push(`${path}:1 does not begin with "# ${number}. " and the decision`);
  const sections = headings.filter(({ level }) => level === 2).map(({ text }) => text);
  if (sections.join() !== ADR_HEADINGS.join())
    problems.push(`${path}:1 does not have the sections ${ADR_HEADINGS.join(', ')}, in this order`);
  return problems;
};
