import { structuredPatch } from 'diff';

const CONTEXT = 2;

/** The changed lines of a text with two lines around them, marked as by `diff -u`. */
export function lineDiff(before: string, after: string): string {
  const { hunks } = structuredPatch('', '', withLineEnds(before), withLineEnds(after), '', '', {
    context: CONTEXT,
  });
  const lines = hunks.flatMap((hunk) => [
    ...(hunk.oldStart > 1 ? ['  …'] : []),
    ...hunk.lines.map((line) => `${line.slice(0, 1)} ${line.slice(1)}`),
  ]);
  return lines.map((line) => `${line}\n`).join('');
}

/** Every line ends in the same way, also the last one: other ends are no difference to a reader. */
function withLineEnds(text: string): string {
  return `${text.replaceAll('\r\n', '\n')}\n`;
}
