import { issueJson, repoJson } from '../present.js';
import { invalid } from '../problems.js';
import { filesAt, type Issue, type Repo } from '../world.js';
import { canSee, paged, type Call, type Reply } from './call.js';

const MAX_FOUND = 1000;

/** Words and the qualifiers repo, is, label, author, state. */
export function searchIssues(call: Call): Reply {
  const { words, qualifiers } = parsed(call);
  const repos = reposIn(call, qualifiers.get('repo'));
  const is = (qualifiers.get('is') ?? []).concat(qualifiers.get('type') ?? []);
  const states = is.concat(qualifiers.get('state') ?? []);
  const matches = (issue: Issue): boolean =>
    (!is.includes('issue') || !issue.pull) &&
    (!(is.includes('pr') || is.includes('pull-request')) || issue.pull !== undefined) &&
    (!states.includes('open') || issue.state === 'open') &&
    (!states.includes('closed') || issue.state === 'closed') &&
    (qualifiers.get('label') ?? []).every((name) => issue.labels.includes(name)) &&
    (qualifiers.get('author') ?? []).every((login) => issue.user.login === login) &&
    words.every((word) => `${issue.title} ${issue.body}`.toLowerCase().includes(word));
  const found = repos.flatMap((repo) =>
    [...repo.issues.values()].filter(matches).map((issue) => ({ repo, issue })),
  );
  return paged(
    call,
    found.toReversed().slice(0, MAX_FOUND),
    ({ repo, issue }) => ({
      ...issueJson(call.world, repo, issue, call.version),
      repository_url: `${call.apiUrl}/repos/${repo.fullName}`,
      score: 1,
    }),
    (items) => ({ total_count: found.length, incomplete_results: false, items }),
  );
}

export function searchCode(call: Call): Reply {
  const { words, qualifiers } = parsed(call);
  const repos = reposIn(call, qualifiers.get('repo'));
  const [path, extension] = [qualifiers.get('path')?.[0], qualifiers.get('extension')?.[0]];
  const found = repos.flatMap((repo) =>
    [...filesAt(call.world, repo.refs.get(`heads/${repo.defaultBranch}`))].flatMap(
      ([name, { sha }]) => {
        const text = call.world.git.blob(sha)?.toString() ?? '';
        const isMatch =
          words.every((word) => text.toLowerCase().includes(word)) &&
          (path === undefined || name.startsWith(path)) &&
          (extension === undefined || name.endsWith(`.${extension}`));
        return isMatch ? [{ repo, name, sha, text }] : [];
      },
    ),
  );
  return paged(
    call,
    found.slice(0, MAX_FOUND),
    ({ repo, name, sha, text }) => ({
      name: name.split('/').at(-1) ?? '',
      path: name,
      sha,
      html_url: `https://github.com/${repo.fullName}/blob/${repo.defaultBranch}/${name}`,
      repository: repoJson(repo, false),
      score: 1,
      ...(call.accept.includes('text-match') && {
        text_matches: [{ property: 'content', fragment: text.slice(0, 200) }],
      }),
    }),
    (items) => ({ total_count: found.length, incomplete_results: false, items }),
  );
}

function parsed({ query }: Call) {
  const given = query.get('q') ?? '';
  if (given.trim() === '') throw invalid([{ resource: 'Search', field: 'q', code: 'missing' }]);
  const qualifiers = new Map<string, string[]>();
  const words: string[] = [];
  for (const part of given.match(/(?:[^\s"]|"[^"]*")+/g) ?? []) {
    const [, name, value] = /^([a-z]+):(.+)$/.exec(part) ?? [];
    const bare = (value ?? part).replaceAll('"', '');
    if (name === undefined) words.push(bare.toLowerCase());
    else qualifiers.set(name, [...(qualifiers.get(name) ?? []), bare]);
  }
  return { words, qualifiers };
}

function reposIn(call: Call, named: readonly string[] | undefined): readonly Repo[] {
  const visible = [...call.world.repos.values()].filter((repo) => canSee(call.caller, repo));
  if (!named) return visible;
  const found = visible.filter(({ fullName }) => named.includes(fullName));
  if (found.length > 0) return found;
  const message =
    'The listed users and repositories cannot be searched either because the resources do not exist or you do not have permission to view them.';
  throw invalid([{ resource: 'Search', field: 'q', code: 'invalid', message }]);
}
