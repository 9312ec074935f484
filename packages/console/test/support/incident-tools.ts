/** Seconds ago as an ISO time. */
export type Clock = (seconds: number) => string;

export const TOOLS = [
  ['search_items', 'read'],
  ['get_item', 'read'],
  ['x_post_tweet', 'once'],
  ['x_search_tweets', 'read'],
  ['x_delete_tweet', 'once'],
  ['github_create_issue', 'once'],
  ['github_list_issues', 'read'],
] as const;
