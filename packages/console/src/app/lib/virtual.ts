/** Which rows of a long list are in the document. */
export interface RowWindow {
  readonly first: number;
  /** Exclusive. */
  readonly end: number;
  /** Pixels above the first row. */
  readonly before: number;
  /** Pixels below the last row. */
  readonly after: number;
}

export interface ViewPort {
  readonly rows: number;
  readonly rowHeight: number;
  /** How far the list is scrolled past its top; negative while its top is below the top of the screen. */
  readonly scrolled: number;
  readonly height: number;
}

/** Rows beyond each edge, so that fast scrolling does not show gaps. */
const OVERSCAN = 12;
/** A screen that is higher than this many rows still gets no more. */
const MAX_ROWS = 100;

export function rowWindow({ rows, rowHeight, scrolled, height }: ViewPort): RowWindow {
  const visible = Math.ceil(Math.max(0, height) / rowHeight) + 1;
  const count = Math.min(rows, MAX_ROWS, visible + 2 * OVERSCAN);
  const wanted = Math.floor(scrolled / rowHeight) - OVERSCAN;
  const first = Math.max(0, Math.min(wanted, rows - count));
  const end = first + count;
  return { first, end, before: first * rowHeight, after: (rows - end) * rowHeight };
}
