/** Where a server can be told to die, in the order in which a call passes them. */
export const deathPoints = Object.freeze([
  'after-claim',
  'before-sending',
  'after-sending',
  'after-bytes-left',
  'after-commit',
  'after-response',
  'before-result-stored',
] as const);

export type DeathPoint = (typeof deathPoints)[number];

/** Points that lie inside of the server: it kills itself there. The others are seen by the upstream. */
export type OwnPoint = Exclude<DeathPoint, 'after-bytes-left' | 'after-commit'>;

/** Up to here nothing can have left, and everybody can know that. */
export function isBeforeSending(point: DeathPoint): boolean {
  return point === 'after-claim' || point === 'before-sending';
}
