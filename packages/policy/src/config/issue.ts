/** Where in the configuration: names of members and places in lists. */
export type IssuePath = readonly (string | number)[];

/** What is wrong, where, and what may have been meant. Reads on after the path. */
export interface PolicyIssue {
  readonly path: IssuePath;
  readonly message: string;
}
