/** Faults of the connection or of the answer's form: any upstream can have them. */
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

/** Faults of what an answer says: the upstream's own code commits them, and only where they make sense. */
const content = [
  'loop-next',
  'foreign-next',
  'empty-page',
  'too-large-413',
  'too-large-502',
  'x-media-fails',
  'x-consent-denied',
] as const;

/** Refusals in the words of one upstream. They come instead of what was asked for, which is not done. */
const refusals = [
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
] as const;

export type WireFault = (typeof wire)[number];
export type RefusalFault = (typeof refusals)[number];
export type ContentFault = (typeof content)[number] | RefusalFault;
/** An answer with this status instead of the real one, 400 to 599; or after the upstream has acted. */
type StatusFault = `http-${number}` | `acted-http-${number}`;
export type FaultKind = WireFault | ContentFault | StatusFault;

export const namedFaults: readonly (WireFault | ContentFault)[] = [
  ...wire,
  ...content,
  ...refusals,
];

export const refusalFaults: readonly RefusalFault[] = refusals;

export function isContentFault(kind: FaultKind): kind is ContentFault {
  return content.some((name) => name === kind) || isRefusal(kind);
}

function isRefusal(kind: FaultKind): kind is RefusalFault {
  return refusals.some((name) => name === kind);
}

export function statusOf(kind: string): number | undefined {
  const [, status] = /^(?:acted-)?http-([45]\d\d)$/.exec(kind) ?? [];
  return status === undefined ? undefined : Number(status);
}

export function isFaultKind(text: string): text is FaultKind {
  return namedFaults.some((name) => name === text) || statusOf(text) !== undefined;
}

/** What passes by itself and comes quickly: the faults that a retry is made for. */
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

/** A fast fault takes a tenth of a normal answer; one of content takes as long as the answer it spoils. */
export function paceOf(kind: FaultKind): number {
  return kind === 'drip' || (isContentFault(kind) && !isRefusal(kind)) ? 1 : 0.1;
}

/** The route name of a new connection, whose request is not yet known. */
export const CONNECTION = 'connection';
