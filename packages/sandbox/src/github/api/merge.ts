import * as z from 'zod';
import { mergeFiles } from '../git.js';
import { isMergeable } from '../present.js';
import { problem } from '../problems.js';
import { filesAt, headOf } from '../world.js';
import { canPush, commitAct, pullOf, repoOf, type Call, type Reply } from './call.js';
import { moveBranch } from './repos.js';

/** Merges the head that the caller names, if it is still the head. */
export async function merge(call: Call): Promise<Reply> {
  const repo = repoOf(call);
  const issue = pullOf(call, repo);
  const { pull, number } = issue;
  const { world, caller } = call;
  if (!canPush(caller, repo)) throw problem(403, 'Resource not accessible by integration');
  const given = await call.body(
    z.object({
      sha: z.string().optional(),
      merge_method: z.enum(['merge', 'squash', 'rebase']).default('merge'),
      commit_title: z.string().optional(),
      commit_message: z.string().optional(),
    }),
  );
  if (call.exchange.inject('github-head-moves')) moveBranch(call, repo, `heads/${pull.head}`);
  if (call.exchange.inject('github-branch-moves'))
    throw problem(405, 'Base branch was modified. Review and try the merge again.');
  const head = headOf(repo, pull);
  if (issue.state !== 'open' || pull.mergedAt !== undefined || pull.draft)
    throw problem(405, 'Pull Request is not mergeable');
  if (given.sha !== undefined && given.sha !== head)
    throw problem(409, 'Head branch was modified. Review and try the merge again.');
  if (!isMergeable(world, repo, pull)) throw problem(405, 'Pull Request has merge conflicts');
  const base = repo.refs.get(`heads/${pull.base}`) ?? pull.baseSha;
  const common = world.git.mergeBase(base, head);
  const files = mergeFiles(filesAt(world, common), filesAt(world, base), filesAt(world, head));
  const { login } = caller.account;
  const message = given.commit_title ?? `Merge pull request #${number} from ${pull.head}`;
  const sha = world.git.writeCommit({
    tree: world.git.writeFiles(files ?? new Map()),
    parents: given.merge_method === 'merge' ? [base, head] : [base],
    message: [message, given.commit_message].filter((part) => part !== undefined).join('\n\n'),
    author: { name: login, email: `${login}@users.noreply.github.com`, date: world.clock.now() },
  });
  pull.headSha = head;
  pull.baseSha = base;
  repo.refs.set(`heads/${pull.base}`, sha);
  Object.assign(pull, { mergedAt: world.clock.now(), mergeSha: sha });
  Object.assign(issue, { state: 'closed', closedAt: world.clock.now() });
  commitAct(call, repo, { kind: 'pull.merged', number, content: { number } });
  return { json: { sha, merged: true, message: 'Pull Request successfully merged' } };
}
