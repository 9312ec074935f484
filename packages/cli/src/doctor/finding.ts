/** One thing that doctor looked at. */
export interface Finding {
  readonly status: 'ok' | 'warn' | 'fail';
  readonly what: string;
  readonly detail: string;
  /** What to do about it. */
  readonly advice?: string;
}
