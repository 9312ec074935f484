import type { ApiReply } from './api-double.js';
import type { ApiWorld, Item } from './api-worlds.js';

const SHA = '0123456789abcdef0123456789abcdef01234567';

/** The parts of GitHub's REST API that the archived server uses, with all members that it requires. */
export function githubWorld(): ApiWorld {
  const time = '2026-01-01T00:00:00Z';
  const link = 'https://api.github.com/x';
  const user = {
    login: 'o',
    id: 1,
    node_id: 'U',
    avatar_url: link,
    url: link,
    html_url: link,
    type: 'User',
  };
  const repository = (name: string) => ({
    id: 1,
    node_id: 'R',
    name,
    full_name: `o/${name}`,
    private: false,
    owner: user,
    html_url: link,
    description: null,
    fork: false,
    url: link,
    default_branch: 'main',
    created_at: time,
    updated_at: time,
    pushed_at: time,
    git_url: link,
    ssh_url: link,
    clone_url: link,
  });
  const repositories = ['r'];
  const forks: string[] = [];
  const refs: Record<string, string> = { main: SHA, side: SHA };
  const files: Record<string, string> = {};
  const issues: Item[] = [{ number: 1, title: 'first' }];
  const [comments, reviews, commits]: [Item[], Item[], Item[]] = [[], [], []];
  const pulls: Item[] = [];
  let isBehind = true;
  let shas = 0;
  const newSha = (): string => String(++shas).padStart(40, '0');
  const refused = (status: number, message: string): ApiReply => ({ status, json: { message } });
  const refOf = (name = ''): ApiReply =>
    refs[name] === undefined
      ? refused(404, 'Not Found')
      : {
          json: {
            ref: `refs/heads/${name}`,
            node_id: 'REF',
            url: link,
            object: { sha: refs[name], type: 'commit', url: link },
          },
        };
  const side = (ref: unknown) => ({
    label: `o:${String(ref)}`,
    ref,
    sha: SHA,
    user,
    repo: repository('r'),
  });
  const pullOf = (pull: Item | undefined): ApiReply => ({
    json: {
      url: link,
      id: 1,
      node_id: 'PR',
      html_url: link,
      diff_url: link,
      patch_url: link,
      issue_url: link,
      state: 'open',
      locked: false,
      user,
      body: null,
      created_at: time,
      updated_at: time,
      closed_at: null,
      merged_at: null,
      merge_commit_sha: null,
      assignee: null,
      assignees: [],
      requested_reviewers: [],
      labels: [],
      // As GitHub does; the server leaves it out.
      merged: pull?.['merged_at'] !== undefined,
      ...pull,
      head: side(pull?.['head']),
      base: side(pull?.['base']),
    },
  });
  const fileOf = (path: string) => ({
    name: path,
    path,
    sha: files[path],
    size: 1,
    url: link,
    html_url: link,
    git_url: link,
    download_url: link,
    type: 'file',
    encoding: 'base64',
    content: 'YQ==',
    _links: { self: link, git: link, html: link },
  });
  const author = { name: 'o', email: 'o@example.com', date: time };
  const commitOf = (sha: string, message: unknown) => ({
    sha,
    node_id: 'C',
    url: link,
    html_url: link,
    author,
    committer: author,
    message,
    tree: { sha: SHA, url: link },
    parents: [{ sha: SHA, url: link, html_url: link }],
  });
  const numbered = (items: readonly Item[], number = ''): Item | undefined =>
    items.find((item) => item['number'] === Number(number));
  const at = 'api.github.com/repos/:owner/:repo';
  return {
    state: () =>
      JSON.stringify([
        repositories,
        forks,
        refs,
        files,
        issues,
        comments,
        reviews,
        commits,
        pulls,
        shas,
      ]),
    routes: {
      'GET api.github.com/search/repositories': () => ({
        json: { total_count: 1, incomplete_results: false, items: [repository('r')] },
      }),
      'GET api.github.com/search/code': () => ({ json: { total_count: 0, items: [] } }),
      'GET api.github.com/search/issues': () => ({ json: { total_count: 0, items: [] } }),
      'GET api.github.com/search/users': () => ({ json: { total_count: 0, items: [] } }),
      'POST api.github.com/user/repos': ({ body }) => {
        const name = String(body['name']);
        if (repositories.includes(name)) return refused(422, 'name already exists on this account');
        repositories.push(name);
        return { status: 201, json: repository(name) };
      },
      [`POST ${at}/forks`]: ({ path }) => {
        forks.push(path['repo'] ?? '');
        const origin = repository('r');
        return { status: 202, json: { ...origin, fork: true, parent: origin, source: origin } };
      },
      [`GET ${at}/contents/*`]: ({ path }) =>
        files[path['rest'] ?? ''] === undefined
          ? refused(404, 'Not Found')
          : { json: fileOf(path['rest'] ?? '') },
      [`PUT ${at}/contents/*`]: ({ path, body }) => {
        const name = path['rest'] ?? '';
        if (files[name] !== body['sha']) return refused(409, `${name} does not match`);
        files[name] = newSha();
        const commit = commitOf(newSha(), body['message']);
        return { json: { content: fileOf(name), commit } };
      },
      [`GET ${at}/commits`]: () => ({ json: [] }),
      [`GET ${at}/commits/:sha/status`]: () => ({
        json: { state: 'success', statuses: [], sha: SHA, total_count: 0 },
      }),
      [`GET ${at}/git/refs/heads/:name`]: ({ path }) => refOf(path['name']),
      [`POST ${at}/git/refs`]: ({ body }) => {
        const name = String(body['ref']).replace('refs/heads/', '');
        if (refs[name] !== undefined) return refused(422, 'Reference already exists');
        refs[name] = String(body['sha']);
        return refOf(name);
      },
      [`PATCH ${at}/git/refs/heads/:name`]: ({ path, body }) => {
        refs[path['name'] ?? ''] = String(body['sha']);
        return refOf(path['name']);
      },
      [`POST ${at}/git/trees`]: () => ({
        json: { sha: SHA, url: link, tree: [], truncated: false },
      }),
      [`POST ${at}/git/commits`]: ({ body }) => {
        const commit = commitOf(newSha(), body['message']);
        commits.push(commit);
        return { status: 201, json: commit };
      },
      [`GET ${at}/issues`]: () => ({ json: issues }),
      [`POST ${at}/issues`]: ({ body }) => {
        const issue = { number: issues.length + 1, ...body };
        issues.push(issue);
        return { status: 201, json: issue };
      },
      [`GET ${at}/issues/:number`]: ({ path }) => ({ json: numbered(issues, path['number']) }),
      [`PATCH ${at}/issues/:number`]: ({ path, body }) => ({
        json: Object.assign(numbered(issues, path['number']) ?? {}, body),
      }),
      [`POST ${at}/issues/:number/comments`]: ({ body }) => {
        comments.push(body);
        return { status: 201, json: { id: comments.length, ...body } };
      },
      [`GET ${at}/pulls`]: () => ({ json: pulls.map((pull) => pullOf(pull).json) }),
      [`POST ${at}/pulls`]: ({ body }) => {
        if (pulls.some(({ head, merged_at: merged }) => head === body['head'] && !merged)) {
          return refused(422, 'A pull request already exists for o:side.');
        }
        const pull: Item = { ...body, number: pulls.length + 1 };
        pulls.push(pull);
        return pullOf(pull);
      },
      [`GET ${at}/pulls/:number`]: ({ path }) => pullOf(numbered(pulls, path['number'])),
      [`GET ${at}/pulls/:number/files`]: () => ({ json: [] }),
      [`GET ${at}/pulls/:number/comments`]: () => ({ json: [] }),
      [`GET ${at}/pulls/:number/reviews`]: () => ({ json: [] }),
      [`POST ${at}/pulls/:number/reviews`]: ({ body }) => {
        reviews.push(body);
        const { body: text } = body as { body?: string };
        return {
          json: {
            id: reviews.length,
            node_id: 'V',
            user,
            body: text,
            state: 'COMMENTED',
            html_url: link,
            pull_request_url: link,
            commit_id: SHA,
            submitted_at: time,
            author_association: 'OWNER',
          },
        };
      },
      [`PUT ${at}/pulls/:number/update-branch`]: () => {
        if (!isBehind) return refused(422, 'There are no new commits on the base branch.');
        isBehind = false;
        return { status: 202, json: { message: 'Updating pull request branch.' } };
      },
      [`PUT ${at}/pulls/:number/merge`]: ({ path }) => {
        const pull = numbered(pulls, path['number']);
        if (!pull || pull['merged_at']) return refused(405, 'Pull Request is not mergeable');
        Object.assign(pull, { merged_at: time, state: 'closed' });
        return {
          json: { merged: true, sha: newSha(), message: 'Pull Request successfully merged' },
        };
      },
    },
  };
}
