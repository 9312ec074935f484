/** For text and attributes alike. */
export function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

type Attributes = Readonly<Record<string, string | number | undefined>>;

/** An element. Its content is markup already; text goes through {@link label}. */
export function el(name: string, attributes: Attributes, ...content: readonly string[]): string {
  const said = Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined
      ? []
      : [` ${key}="${typeof value === 'number' ? round(value) : escaped(value)}"`],
  );
  const inside = content.join('');
  return inside === ''
    ? `<${name}${said.join('')}/>`
    : `<${name}${said.join('')}>${inside}</${name}>`;
}

export function label(x: number, y: number, text: string, attributes: Attributes = {}): string {
  return el('text', { x, y, ...attributes }, escaped(text));
}

/** An upper bound for the width of a label: system fonts take less at 12 px. */
export const widthOf = (text: string): number => 7 * text.length;

export function line(
  [x1, y1]: readonly [number, number],
  [x2, y2]: readonly [number, number],
  kind: string,
): string {
  return el('line', { x1, y1, x2, y2, class: kind });
}

export function picture(
  width: number,
  height: number,
  title: string,
  parts: readonly string[],
): string {
  return el(
    'svg',
    { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': title },
    el('title', {}, escaped(title)),
    ...parts,
  );
}

/** From values to places. */
export type Scale = (value: number) => number;

export function linear(from: readonly [number, number], to: readonly [number, number]): Scale {
  return (value) => to[0] + ((value - from[0]) / (from[1] - from[0])) * (to[1] - to[0]);
}

export function logarithmic(from: readonly [number, number], to: readonly [number, number]): Scale {
  const place = linear([Math.log(from[0]), Math.log(from[1])], to);
  return (value) => place(Math.log(value));
}

/** Round numbers within a range: 1, 2 and 5 times powers of ten. */
export function roundNumbers(from: number, to: number): number[] {
  const numbers: number[] = [];
  for (let power = Math.floor(Math.log10(from)); 10 ** power <= to; power++) {
    numbers.push(...[1, 2, 5].map((digit) => digit * 10 ** power));
  }
  return numbers.filter((number) => number >= from && number <= to);
}

/** Round numbers from nothing to a limit, in at most six equal steps. */
export function evenSteps(to: number): number[] {
  const least = to / 6;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((one) => one >= least) ?? to;
  return Array.from({ length: Math.floor(to / step) + 1 }, (_, n) => n * step);
}

function round(value: number): string {
  return String(Math.round(value * 100) / 100);
}
