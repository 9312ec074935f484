import { sharedCodes } from './shared.js';
import { addedCodes, codes, frozenCodes, type CodeEntry } from './table.js';

/** The page docs/error-codes.md, from the table. */
export function errorCodesMarkdown(): string {
  const retryable = Object.entries(codes).filter(([, entry]) => entry.retryable);
  return [
    '# Error codes',
    '',
    '<!-- Generated from packages/contract/src/codes/table.ts. Do not edit: run',
    '     UPDATE_DOCS=1 npx vitest run packages/contract -->',
    '',
    'Every failed call carries one of these codes in `error.code`. `retryable` is advice to the',
    'agent: the same call may succeed later. It follows from the code alone; no tool can set it.',
    '',
    `## The ${Object.keys(frozenCodes).length} codes of the original contract`,
    '',
    ...table(frozenCodes),
    '',
    '## Codes for what those cannot say',
    '',
    ...table(addedCodes),
    '',
    '## In short',
    '',
    `Retryable: ${names(retryable.map(([code]) => code))}.`,
    '',
    `Any tool may answer with ${names(sharedCodes)} without declaring them.`,
    '',
  ].join('\n');
}

function table(entries: Readonly<Record<string, CodeEntry>>): readonly string[] {
  return [
    '| Code | Category | Retryable | Description |',
    '| --- | --- | --- | --- |',
    ...Object.entries(entries).map(
      ([code, { category, retryable, description }]) =>
        `| \`${code}\` | ${category} | ${retryable ? 'Yes' : 'No'} | ${description} |`,
    ),
  ];
}

function names(list: readonly string[]): string {
  return list.map((name) => `\`${name}\``).join(', ');
}
