import type { ToolSpec } from '@toolkeel/contract';
import type { Toolset } from '../../config.js';
import * as reads from './read.js';
import * as writes from './write.js';

export * from './read.js';
export * from './write.js';
export type { CursorSchema, PageCursor } from './common.js';

/** The tools of each set. */
export const sets: Readonly<Record<Toolset, readonly ToolSpec[]>> = {
  core: [
    reads.getContext,
    reads.readFile,
    reads.listTree,
    reads.searchCode,
    reads.listCommits,
    reads.compare,
    reads.searchIssues,
    reads.getIssue,
    reads.listPulls,
    reads.getPull,
    reads.getPullDiff,
    reads.getPullDiscussion,
    reads.listReleases,
    reads.listNotifications,
    reads.rateLimitStatus,
    reads.graphqlQuery,
  ],
  write: [
    writes.updateIssue,
    writes.updatePull,
    writes.resolveThread,
    writes.relateIssues,
    writes.markNotificationRead,
    writes.createBranch,
    writes.commitFiles,
    writes.createPull,
    writes.mergePull,
    writes.submitReview,
    writes.createIssue,
    writes.comment,
    writes.replyReviewComment,
    writes.createRelease,
  ],
  actions: [reads.listRuns, reads.getRun, reads.getJobLog, writes.runWorkflow, writes.controlRun],
};
