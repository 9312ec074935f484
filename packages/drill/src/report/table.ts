/** How a figure stands against its bar; without one, none. */
export type Tone = 'good' | 'bad' | 'plain';

export interface Figure {
  readonly text: string;
  readonly tone: Tone;
}

/** A table that can be printed on a terminal or into a page. */
export interface Table {
  readonly title: string;
  /** What to know to read it. */
  readonly lead: string;
  readonly head: readonly string[];
  /** So many columns hold text and begin at the left; the rest are figures. Default 1. */
  readonly textColumns?: number;
  readonly rows: readonly (readonly Figure[])[];
}

export function plain(text: string): Figure {
  return { text, tone: 'plain' };
}

/** A figure, shown as good or bad by whether it meets its bar. Nothing where it was not computed. */
export function figure<T>(
  value: T | undefined,
  show: (value: T) => string,
  meets?: (value: T) => boolean,
): Figure {
  if (value === undefined) return plain('–');
  const tone = meets === undefined ? 'plain' : meets(value) ? 'good' : 'bad';
  return { text: show(value), tone };
}

/** Rows without a single figure were not computed: they are left out. */
export function filled(rows: readonly (readonly Figure[])[]): (readonly Figure[])[] {
  return rows.filter((row) => row.slice(1).some(({ text }) => text !== '–'));
}
