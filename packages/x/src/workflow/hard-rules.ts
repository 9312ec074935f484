import type { HardRuleContext, HardRuleVerdict } from '@toolkeel/contract';
import { FaultError } from '@toolkeel/kernel';
import type { Client } from '../api/client.js';
import type { XConfig } from '../config.js';
import { authorOf, repliesTo } from './history.js';

export type WorkflowConfig = XConfig['workflow'];

const DAY_MS = 86_400_000;

/** Text without differences that a reader does not see: case, width, spacing, invisible characters. */
function plain(text: string): string {
  return text
    .normalize('NFKC')
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase()
    .replaceAll(/[\s\p{Z}]+/gu, ' ')
    .replaceAll(/[‘’ʼ]/gu, "'")
    .trim();
}

/** The first banned phrase in one of the texts. */
export function bannedPhrase(
  texts: readonly string[],
  { bannedPhrases }: Pick<WorkflowConfig, 'bannedPhrases'>,
): string | undefined {
  const written = texts.map(plain);
  return bannedPhrases.find((phrase) => written.some((text) => text.includes(plain(phrase))));
}

/** The blocked author that one of the texts mentions. */
export function mentionsBlocked(
  texts: readonly string[],
  { blockedAuthors }: Pick<WorkflowConfig, 'blockedAuthors'>,
): boolean {
  const mentioned = texts.flatMap((text) =>
    [...text.normalize('NFKC').matchAll(/[@＠](\w{1,15})/g)].map(([, name = '']) =>
      name.toLowerCase(),
    ),
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
  const author = await authorOf(client, account, target.tweetId, context).catch(
    (cause: unknown) => {
      if (isGone(cause)) return undefined;
      throw cause;
    },
  );
  if (!author) {
    return denied('unknown author', 'The tweet is not visible, so its author cannot be checked.');
  }
  if (isBlocked(author, config)) {
    return denied('blocked author', 'The author of the tweet is on the block list.');
  }
  if (!workflow || !target.isReply) return {};
  if (!allowSelfReply && account === `x:${author.id}`) {
    return denied('self-reply', 'The tweet is by this account itself.');
  }
  const made = await repliesTo(client, account, author.id, DAY_MS, context);
  if (made >= max) {
    return denied('author cap', `This author has received ${made} replies in 24 hours, of ${max}.`);
  }
  const all = config.maxRepliesPerDay;
  return {
    limits: [
      { name: `replies to ${author.id}`, max, windowMs: DAY_MS },
      ...(all === undefined ? [] : [{ name: `replies of ${account}`, max: all, windowMs: DAY_MS }]),
    ],
  };
}

/** Whether the block list contains the account to follow. Names in the list need its name. */
export async function followRules(
  client: Client,
  id: string,
  context: HardRuleContext,
): Promise<HardRuleVerdict> {
  const { workflow: config } = client.config;
  const hasNames = config.blockedAuthors.some((entry) => !/^\d+$/.test(entry));
  const author =
    hasNames && !context.argumentsOnly && !isBlocked({ id }, config)
      ? (await client.provider.getUserById({ id }, context)).item
      : { id };
  return isBlocked(author, config)
    ? denied('blocked author', 'The account to follow is on the block list.')
    : {};
}

function isGone(cause: unknown): boolean {
  return cause instanceof FaultError && cause.fault.status === 404;
}
