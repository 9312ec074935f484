/** Faults of the connection or of the response's form, for any upstream. */
const wire = [
  'reset-on-connect',
  'reset-before-read',
  'reset-after-read',
  'close-before-read',
  'close-after-read',
  'half-body',
  'stall',
  'acted-stall',
  'drip',
  'malformed-json',
  'garbage',
  'empty-json',
  'html-200',
  'html-502',
  'length-too-long',
  'length-too-short',
  'redirect',
] as const;

/** Faults of the response's content. The upstream injects them itself, on the routes where they apply. */
const content = [
  'loop-next',
  'foreign-next',
  'empty-page',
  'too-large-413',
  'too-large-502',
  'x-media-fails',
  'x-consent-denied',
  // Another client moves the branch, or the pull request's head, just before the write is handled.
  'github-branch-moves',
  'github-head-moves',
  'llm-stall-mid-stream',
  'llm-comments-only',
  'llm-comments-mid-stream',
  'llm-no-finish',
  'llm-error-event',
  'llm-garbage-event',
  'llm-429-retry-after-ms',
  'llm-429-retry-info',
  'llm-429-day',
  'llm-429-no-retry',
  'llm-429-plan',
  'llm-billing',
  'llm-blocked',
  'cli-no-start',
  'cli-garbage',
  'cli-crash',
  'cli-exit-mid-turn',
  'cli-deaf',
] as const;

/** Rejections in the wire format of one upstream, which does not act on the request. */
const rejections = [
  'x-402-credits',
  'x-403-duplicate',
  'x-403-reply-not-allowed',
  'x-403-not-permitted',
  'x-403-not-authorized',
  'x-403-spend-cap',
  'x-403-client-not-enrolled',
  'x-403-user-not-enrolled',
  'x-403-official-client',
  'x-403-unsupported-authentication',
  'x-403-oauth1-permissions',
  'x-403-suspended',
  'x-403-locked',
  'x-403-restricted',
  'x-429-window',
  'x-429-legacy',
  'x-429-day',
  'x-429-usage-cap',
  'github-403-primary',
  'github-429-primary',
  'github-403-secondary',
  'github-429-secondary',
  // As seen in the field: a message and no rate-limit header; only the documentation anchor; nothing at all.
  'github-403-message',
  'github-403-anchor',
  'github-403-bare',
  'github-graphql-primary',
  'github-graphql-secondary',
  'github-graphql-too-quickly',
  'github-401-revoked',
] as const;

export type WireFault = (typeof wire)[number];
type RejectionFault = (typeof rejections)[number];
export type RejectionOf<Name extends 'x' | 'github'> = Extract<RejectionFault, `${Name}-${string}`>;
export type ContentFault = (typeof content)[number] | RejectionFault;
/** A response with this status, 400 to 599: before the upstream acts, or with `acted-` after it. */
type StatusFault = `http-${number}` | `acted-http-${number}`;
export type FaultKind = WireFault | ContentFault | StatusFault;

export const namedFaults: readonly (WireFault | ContentFault)[] = [
  ...wire,
  ...content,
  ...rejections,
];

/** The rejections of one upstream. */
export function rejectionsOf<Name extends 'x' | 'github'>(
  upstream: Name,
): readonly RejectionOf<Name>[] {
  const isOwn = (kind: RejectionFault): kind is RejectionOf<Name> =>
    kind.startsWith(`${upstream}-`);
  return rejections.filter(isOwn);
}

export const contentFaultsOf = (upstream: string): readonly ContentFault[] =>
  content.filter((kind) => kind.startsWith(`${upstream}-`));

export function isContentFault(kind: FaultKind): kind is ContentFault {
  return content.some((name) => name === kind) || isRejection(kind);
}

function isRejection(kind: FaultKind): kind is RejectionFault {
  return rejections.some((name) => name === kind);
}

export function statusOf(kind: string): number | undefined {
  const [, status] = /^(?:acted-)?http-([45]\d\d)$/.exec(kind) ?? [];
  return status === undefined ? undefined : Number(status);
}

export function isFaultKind(text: string): text is FaultKind {
  return namedFaults.some((name) => name === text) || statusOf(text) !== undefined;
}

/** Transient faults that fail quickly and that a retry is expected to overcome. */
export const fastFaults: readonly FaultKind[] = [
  'http-500',
  'http-502',
  'http-503',
  'http-504',
  'http-429',
  'reset-before-read',
  'reset-after-read',
  'half-body',
];

/** A fault takes a tenth of the normal latency; a content fault or a drip takes all of it. */
export function paceOf(kind: FaultKind): number {
  return kind === 'drip' || (isContentFault(kind) && !isRejection(kind)) ? 1 : 0.1;
}

/** The route name of a new connection, whose request is not yet known. */
export const CONNECTION = 'connection';
