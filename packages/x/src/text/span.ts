/** A part of a text: UTF-16 positions, the end not included. */
export interface Span {
  readonly start: number;
  readonly end: number;
}
