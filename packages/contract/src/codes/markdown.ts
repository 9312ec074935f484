import { addedCodes, type CodeEntry, codes, frozenCodes, sharedCodes } from './table.js';

/** Renders docs/error-codes.md. */
export function errorCodesMarkdown(): string {
  const retryable = Object.entries(codes).filter(([, code]) => code.retryable);
  return [
    '# Error codes',
    '',
    '<!-- Generated from packages/contract/src/codes/table.ts. Do not edit: run',
    '     UPDATE_DOCS=1 npx vitest run packages/contract -->',
    '',
    'Every failed call carries one of these codes in `error.code`, or one that a pack has registered',
    '(listed in the README of the pack). `retryable` is advice to the agent: the same call may succeed',
    'later. It follows from the code alone; no tool can set it.',
    '',
    `## The ${Object.keys(frozenCodes).length} codes of the original contract`,
    '',
    ...codesTable(frozenCodes),
    '',
    '## Added codes',
    '',
    ...codesTable(addedCodes),
    '',
    '## Summary',
    '',
    `Retryable: ${names(retryable.map(([code]) => code))}.`,
    '',
    `Any tool may return ${names(sharedCodes)} without declaring them.`,
    '',
  ].join('\n');
}

/** A Markdown table of codes, for this page and for the README of a pack. */
export function codesTable(entries: Readonly<Record<string, CodeEntry>>): readonly string[] {
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
