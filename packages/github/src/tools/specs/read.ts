import { specifyTool } from '@toolkeel/contract';
import * as z from 'zod';
import { githubCodes } from '../../codes.js';
import { number, pageArguments, pageOf, read, ref, repo, text } from './common.js';

export const getContext = specifyTool({
  ...read,
  name: 'github_get_context',
  description: 'The account that acts, and its permissions in a repository.',
  input: z.object({ repo: repo.optional() }),
});

export const readFile = specifyTool({
  ...read,
  name: 'github_read_file',
  description: 'Read a text file. Long files continue at next_line.',
  input: z.object({
    repo,
    path: text,
    ref,
    start_line: number.optional(),
    end_line: number.optional(),
  }),
});

export const listTree = specifyTool({
  ...read,
  name: 'github_list_tree',
  description: 'List files and folders.',
  input: z.object({
    repo,
    path: text.default(''),
    ref,
    recursive: z.boolean().default(false),
    ...pageArguments,
  }),
  ...pageOf('entries'),
});

export const searchCode = specifyTool({
  ...read,
  name: 'github_search_code',
  description:
    'Search code on default branches, in GitHub search syntax: "retry repo:o/r path:src".',
  input: z.object({ query: text.min(1), ...pageArguments }),
  ...pageOf('matches'),
});

export const listCommits = specifyTool({
  ...read,
  name: 'github_list_commits',
  description: 'List commits, newest first.',
  input: z.object({
    repo,
    ref,
    path: text.optional(),
    author: text.optional(),
    since: z.iso.datetime().optional(),
    ...pageArguments,
  }),
  ...pageOf('commits'),
});

export const compare = specifyTool({
  ...read,
  name: 'github_compare',
  description: 'Compare two refs: commits ahead and behind, changed files with patches.',
  input: z.object({ repo, base: text.min(1), head: text.min(1), ...pageArguments }),
  ...pageOf('files'),
});

export const searchIssues = specifyTool({
  ...read,
  name: 'github_search_issues',
  description:
    'Search issues and pull requests: "repo:o/r is:issue is:open label:bug text". The index lags behind writes.',
  input: z.object({ query: text.min(1), ...pageArguments }),
  ...pageOf('issues'),
});

export const getIssue = specifyTool({
  ...read,
  name: 'github_get_issue',
  description: 'Get an issue (or the conversation of a pull request) with its comments.',
  input: z.object({ repo, number, ...pageArguments }),
  ...pageOf('comments'),
});

export const listPulls = specifyTool({
  ...read,
  name: 'github_list_pulls',
  description: 'List pull requests, newest first.',
  input: z.object({
    repo,
    state: z.enum(['open', 'closed', 'all']).default('open'),
    head: text.optional().describe('branch or owner:branch'),
    base: text.optional(),
    ...pageArguments,
  }),
  ...pageOf('pulls'),
});

export const getPull = specifyTool({
  ...read,
  name: 'github_get_pull',
  description: 'Get a pull request: state, mergeability, head_sha, checks.',
  input: z.object({ repo, number }),
});

export const getPullDiff = specifyTool({
  ...read,
  name: 'github_get_pull_diff',
  description: 'Get the diff of a pull request. A large one comes as pages of files with patches.',
  input: z.object({ repo, number, ...pageArguments }),
  ...pageOf('files'),
});

export const getPullDiscussion = specifyTool({
  ...read,
  name: 'github_get_pull_discussion',
  description: 'List reviews, or review threads with their comment ids and resolution.',
  input: z.object({ repo, number, kind: z.enum(['reviews', 'threads']), ...pageArguments }),
  ...pageOf('entries'),
});

export const listReleases = specifyTool({
  ...read,
  name: 'github_list_releases',
  description: 'List releases, newest first.',
  input: z.object({ repo, ...pageArguments }),
  ...pageOf('releases'),
});

export const listNotifications = specifyTool({
  ...read,
  name: 'github_list_notifications',
  description: 'List your notifications.',
  input: z.object({ all: z.boolean().default(false).describe('also read ones'), ...pageArguments }),
  ...pageOf('notifications'),
});

export const rateLimitStatus = specifyTool({
  category: 'read',
  effect: 'read',
  errors: ['unauthorized'],
  openWorld: false,
  name: 'github_rate_limit_status',
  description: 'Remaining requests, from memory: costs nothing.',
  input: z.object({}),
});

export const graphqlQuery = specifyTool({
  ...read,
  errors: [...githubCodes, 'invalid_input'],
  name: 'github_graphql',
  description: 'Run a GraphQL query. Mutations are refused.',
  input: z.object({
    query: text.min(1).max(20_000),
    variables: z.looseObject({}).optional(),
  }),
});

export const listRuns = specifyTool({
  ...read,
  name: 'github_list_runs',
  description: 'List workflow runs, newest first.',
  input: z.object({
    repo,
    branch: text.optional(),
    status: text.optional().describe('failure, in_progress…'),
    head_sha: text.optional(),
    ...pageArguments,
  }),
  ...pageOf('runs'),
});

export const getRun = specifyTool({
  ...read,
  name: 'github_get_run',
  description: 'Get a workflow run with its jobs and failed steps.',
  input: z.object({ repo, run_id: number, ...pageArguments }),
  ...pageOf('jobs'),
});

export const getJobLog = specifyTool({
  ...read,
  name: 'github_get_job_log',
  description: 'Read the end of a job log.',
  input: z.object({ repo, job_id: number, lines: z.int().min(1).max(2000).default(200) }),
});
