/** Faults of the connection or of the answer's form: any upstream can have them. */
const wire = [
  'reset-on-connect',
  'reset-before-read',
  'reset-after-read',
  'half-body',
  'stall',
  'drip',
  'malformed-json',
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
] as const;

export type WireFault = (typeof wire)[number];
export type ContentFault = (typeof content)[number];
/** An answer with this status instead of the real one: 400 to 599. */
type StatusFault = `http-${number}`;
export type FaultKind = WireFault | ContentFault | StatusFault;

export const namedFaults: readonly (WireFault | ContentFault)[] = [...wire, ...content];

export function isContentFault(kind: FaultKind): kind is ContentFault {
  return content.some((name) => name === kind);
}

export function statusOf(kind: string): number | undefined {
  const [, status] = /^http-([45]\d\d)$/.exec(kind) ?? [];
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
  return kind === 'drip' || isContentFault(kind) ? 1 : 0.1;
}
