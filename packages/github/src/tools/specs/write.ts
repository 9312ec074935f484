import { specifyTool } from '@toolkeel/contract';
import * as z from 'zod';
import { githubCodes } from '../../codes.js';
import { guarded, idempotent, labels, logins, number, once, ref, repo, text } from './common.js';

export const updateIssue = specifyTool({
  ...idempotent,
  errors: [...githubCodes, 'invalid_input'],
  name: 'github_update_issue',
  description: 'Change an issue. labels and assignees replace the present ones.',
  input: z.object({
    repo,
    number,
    title: text.min(1).optional(),
    body: text.optional(),
    state: z.enum(['open', 'closed']).optional(),
    state_reason: z.enum(['completed', 'not_planned', 'duplicate', 'reopened']).optional(),
    labels,
    assignees: logins,
    milestone: z.int().min(0).optional().describe('0: none'),
  }),
});

export const updatePull = specifyTool({
  ...idempotent,
  errors: [...githubCodes, 'invalid_input'],
  name: 'github_update_pull',
  description: 'Change a pull request, ask reviewers, set draft or auto-merge.',
  input: z.object({
    repo,
    number,
    title: text.min(1).optional(),
    body: text.optional(),
    state: z.enum(['open', 'closed']).optional(),
    base: text.optional(),
    draft: z.boolean().optional(),
    add_reviewers: logins,
    remove_reviewers: logins,
    auto_merge: z.enum(['merge', 'squash', 'rebase', 'off']).optional(),
  }),
});

export const resolveThread = specifyTool({
  ...idempotent,
  name: 'github_resolve_thread',
  description: 'Resolve or reopen a review thread.',
  input: z.object({ thread_id: text.min(1), resolved: z.boolean().default(true) }),
});

export const relateIssues = specifyTool({
  ...idempotent,
  errors: [...githubCodes, 'invalid_input'],
  name: 'github_relate_issues',
  description: 'Add or remove sub-issues, by number.',
  input: z.object({
    repo,
    number,
    add: z.array(number).max(50).optional(),
    remove: z.array(number).max(50).optional(),
  }),
});

export const markNotificationRead = specifyTool({
  ...idempotent,
  destructive: false,
  name: 'github_mark_notification_read',
  description: 'Mark a notification as read.',
  input: z.object({ id: z.string().regex(/^\d{1,20}$/) }),
});

export const createBranch = specifyTool({
  ...once,
  errors: guarded,
  name: 'github_create_branch',
  description: 'Create a branch from a ref (default: the default branch).',
  input: z.object({ repo, branch: text.min(1), from: ref }),
});

export const commitFiles = specifyTool({
  ...once,
  errors: [...guarded, 'invalid_input'],
  destructive: true,
  name: 'github_commit_files',
  description:
    'Commit several files to a branch at once. Modes are kept. Refused if another commit changed one of the paths meanwhile.',
  input: z.object({
    repo,
    branch: text.min(1),
    message: text.min(1),
    files: z
      .array(
        z.strictObject({
          path: text.min(1),
          content: text.optional().describe('absent: delete'),
          base64: z.boolean().optional(),
          executable: z.boolean().optional(),
        }),
      )
      .min(1)
      .max(200),
    head_sha: text.optional().describe('the commit you edited from'),
  }),
});

export const createPull = specifyTool({
  ...once,
  name: 'github_create_pull',
  description: 'Open a pull request. An existing one for the same branches is returned.',
  input: z.object({
    repo,
    title: text.min(1),
    body: text.default(''),
    head: text.min(1),
    base: text.min(1),
    draft: z.boolean().default(false),
    reviewers: logins,
    labels,
    assignees: logins,
  }),
});

export const mergePull = specifyTool({
  ...once,
  errors: guarded,
  destructive: true,
  name: 'github_merge_pull',
  description: 'Merge a pull request if its head is still head_sha.',
  input: z.object({
    repo,
    number,
    head_sha: text.min(40).max(64),
    method: z.enum(['merge', 'squash', 'rebase']).default('merge'),
    title: text.optional(),
    message: text.optional(),
  }),
});

export const submitReview = specifyTool({
  ...once,
  name: 'github_submit_review',
  description: 'Submit a review with line comments, never pending.',
  input: z.object({
    repo,
    number,
    event: z.enum(['approve', 'request_changes', 'comment']),
    body: text.default(''),
    commit_id: text.optional(),
    comments: z
      .array(
        z.strictObject({
          path: text,
          line: number,
          side: z.enum(['LEFT', 'RIGHT']).optional(),
          body: text,
        }),
      )
      .max(100)
      .optional(),
  }),
});

export const createIssue = specifyTool({
  ...once,
  name: 'github_create_issue',
  description: 'Create an issue.',
  input: z.object({
    repo,
    title: text.min(1),
    body: text.default(''),
    labels,
    assignees: logins,
    milestone: number.optional(),
  }),
});

export const comment = specifyTool({
  ...once,
  name: 'github_comment',
  description: 'Comment on an issue or pull request.',
  input: z.object({ repo, number, body: text.min(1) }),
});

export const replyReviewComment = specifyTool({
  ...once,
  name: 'github_reply_review_comment',
  description: 'Reply in a review thread, by its first comment_id.',
  input: z.object({ repo, number, comment_id: number, body: text.min(1) }),
});

export const createRelease = specifyTool({
  ...once,
  name: 'github_create_release',
  description: 'Create a release and its tag. An existing one for the tag is returned.',
  input: z.object({
    repo,
    tag: text.min(1),
    name: text.optional(),
    body: text.default(''),
    target: text.optional(),
    draft: z.boolean().default(false),
    prerelease: z.boolean().default(false),
  }),
});

export const runWorkflow = specifyTool({
  ...once,
  destructive: true,
  name: 'github_run_workflow',
  description: 'Start a workflow by file name.',
  input: z.object({
    repo,
    workflow: text.min(1),
    ref: text.min(1),
    inputs: z.record(z.string(), z.string()).optional(),
  }),
});

export const controlRun = specifyTool({
  ...once,
  errors: guarded,
  destructive: true,
  name: 'github_rerun_or_cancel_run',
  description: 'Rerun or cancel a run whose attempt is still this one.',
  input: z.object({
    repo,
    run_id: number,
    attempt: number,
    action: z.enum(['rerun', 'rerun_failed', 'cancel']),
  }),
});
