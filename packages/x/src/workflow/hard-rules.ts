import type { HardRuleContext, HardRuleVerdict } from '@toolkeel/contract';
import type { Client } from '../api/client.js';
import type { XConfig } from '../config.js';
import { nfc } from '../text/strings.js';
import { bannedPhrase } from './banned-phrases.js';
import { findAuthor, repliesSince } from './history.js';

export type WorkflowConfig = XConfig['workflow'];

const DAY_MS = 86_400_000;

/** The blocked author that one of the texts mentions. */
export function mentionsBlocked(
  texts: readonly string[],
  { blockedAuthors }: Pick<WorkflowConfig, 'blockedAuthors'>,
): boolean {
  const mentioned = texts.flatMap((text) =>
    [...nfc(text, 'NFKC').matchAll(/[@＠](\w{1,15})/g)].map(([, name = '']) => name.toLowerCase()),
  );
  return blockedAuthors.some((entry) => mentioned.includes(nameOf(entry)));
}

const nameOf = (entry: string): string => entry.replace(/^@/, '').toLowerCase();

export interface Author {
  readonly id: string;
  readonly username?: string | undefined;
}

export function isBlocked(
  { id, username }: Author,
  { blockedAuthors }: Pick<WorkflowConfig, 'blockedAuthors'>,
): boolean {
  const names = [id, username?.toLowerCase()];
  return blockedAuthors.some((entry) => names.includes(nameOf(entry)));
}

/** Throws if the list has names and the name of the author is unknown: the rule cannot decide. */
function checkBlocked(author: Author, config: WorkflowConfig): boolean {
  const hasNames = config.blockedAuthors.some((entry) => !/^\d+$/.test(entry));
  const isListed = isBlocked(author, config);
  if (!isListed && hasNames && author.username === undefined) {
    throw new TypeError(`X returned the user ${author.id} without a name`);
  }
  return isListed;
}

const denied = (rule: string, explanation: string): HardRuleVerdict => ({
  denied: { rule, explanation },
});

/** Rules about what is written. They need neither X nor a database. */
export function textRules(texts: readonly string[], config: WorkflowConfig): HardRuleVerdict {
  const phrase = bannedPhrase(texts, config);
  if (phrase !== undefined) {
    return denied('banned phrase', `The text contains the banned phrase "${phrase}".`);
  }
  if (mentionsBlocked(texts, config)) {
    return denied('blocked author', 'The text mentions an account of the block list.');
  }
  return {};
}

/** Rules about the author of the tweet that a reply or quote refers to. */
export async function authorRules(
  client: Client,
  target: { readonly tweetId: string; readonly isReply: boolean },
  context: HardRuleContext,
): Promise<HardRuleVerdict> {
  const { workflow: config } = client.config;
  const { allowSelfReply, blockedAuthors, maxRepliesPerAuthorPerDay: max } = config;
  // Without records the profile is another one, or an operator edits in a process without a login.
  const { workflow } = client;
  const needsAuthor = workflow !== undefined || blockedAuthors.length > 0;
  if (context.argumentsOnly || !needsAuthor) return {};
  const account = await context.accountId();
  const author = await findAuthor(client, account, target.tweetId, context);
  if (!author) {
    return denied('unknown author', 'The tweet is not visible, so its author cannot be checked.');
  }
  if (checkBlocked(author, config)) {
    return denied('blocked author', 'The author of the tweet is on the block list.');
  }
  if (!workflow || !target.isReply) return {};
  if (!allowSelfReply && account === `x:${author.id}`) {
    return denied('self-reply', 'The tweet is by this account itself.');
  }
  const made = await repliesSince(client, account, DAY_MS, context);
  const received = made.filter(({ data }) => data.author?.id === author.id).length;
  if (received >= max) {
    const explanation = `This author has received ${received} replies in 24 hours, of ${max}.`;
    return denied('author cap', explanation);
  }
  const all = config.maxRepliesPerDay;
  // The journal's limits below count only what was sent under them: not the replies of other profiles.
  if (all !== undefined && made.length >= all) {
    return denied(
      'reply cap',
      `This account has sent ${made.length} replies in 24 hours, of ${all}.`,
    );
  }
  return {
    limits: [
      { name: `replies to ${author.id}`, max, windowMs: DAY_MS },
      ...(all === undefined ? [] : [{ name: `replies of ${account}`, max: all, windowMs: DAY_MS }]),
    ],
  };
}

/** The tweets that a text links to, which X shows like a quote. */
const TWEET_LINK =
  /(?<![\w.-])(?:https?:\/\/)?(?:[a-z]+\.)?(?:x|twitter)\.com\/\w+(?:\/web)?\/status(?:es)?\/(\d{1,20})/giu;

/** Whether a text quotes a blocked author with a link to a tweet. The name in a link may be any. */
export async function linkRules(
  client: Client,
  texts: readonly string[],
  context: HardRuleContext,
): Promise<HardRuleVerdict> {
  const { workflow: config } = client.config;
  if (context.argumentsOnly || config.blockedAuthors.length === 0) return {};
  const ids = texts.flatMap((text) =>
    [...nfc(text, 'NFKC').matchAll(TWEET_LINK)].map(([, id = '']) => id),
  );
  if (ids.length === 0) return {};
  const account = await context.accountId();
  for (const id of new Set(ids)) {
    const author = await findAuthor(client, account, id, context);
    // X shows nothing of a tweet that is gone.
    if (author && checkBlocked(author, config)) {
      return denied('blocked author', 'The text links to a tweet of an account of the block list.');
    }
  }
  return {};
}

/** Whether the block list contains the account to follow. Names in the list need its name. */
export async function followRules(
  client: Client,
  id: string,
  context: HardRuleContext,
): Promise<HardRuleVerdict> {
  const { workflow: config } = client.config;
  const isListed =
    context.argumentsOnly || isBlocked({ id }, config) || config.blockedAuthors.length === 0
      ? isBlocked({ id }, config)
      : checkBlocked((await client.provider.getUserById({ id }, context)).item, config);
  return isListed ? denied('blocked author', 'The account to follow is on the block list.') : {};
}
