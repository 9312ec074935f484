/**
 * Messages of the journal name a tool and arguments that the packs have and a guarded server has not: a
 * model that follows them would send a call to the server.
 */
const WORDING: readonly (readonly [journal: string, guard: string])[] = [
  ['call again with its key or use get_operation.', 'call again with its key.'],
  [
    'set allow_duplicate: true with a new idempotency_key.',
    'the client has to send the _meta member dev.toolkeel/allow-duplicate: true with a new idempotency key.',
  ],
  ['to get its result, or use get_operation.', 'to get its result.'],
  [
    'and returns the result once it is known; so does get_operation.',
    'and returns the result once it is known.',
  ],
  [
    'Do not rephrase it, and do not set allow_duplicate unless you intend a second act. The operator can settle it.',
    'Do not rephrase it. Read tools of the server may show whether it was executed. An operator can settle it with: toolkeel operations resolve OPERATION. Only for an intended second act, the client sends the _meta member dev.toolkeel/allow-duplicate: true.',
  ],
  [
    ': use get_operation, or call again with the same arguments.',
    ': call again with the same arguments to learn its state. An operator decides with: toolkeel approvals approve OPERATION, or reject.',
  ],
  ['get_operation shows its result.', 'Call again with the same arguments to get its result.'],
];

/** For a message that the list does not know: less helpful, but it names nothing that is not there. */
const FALLBACK: readonly (readonly [name: RegExp, instead: string])[] = [
  [/\bget_operation\b/g, 'a repeat of the call'],
  [/\ballow_duplicate\b/g, 'the _meta member dev.toolkeel/allow-duplicate'],
  [/\bidempotency_key\b/g, 'idempotency key'],
];

/** Whether each name that a guarded server does not have is part of a phrase with a translation. */
export function isTranslated(message: string): boolean {
  const text = translated(message);
  return FALLBACK.every(([name]) => text.search(name) < 0);
}

function translated(message: string): string {
  let text = message;
  for (const [journal, guard] of WORDING) text = text.replaceAll(journal, guard);
  return text;
}

/** The message in terms of what exists behind a guard. */
export function inGuardTerms(message: string, operationId: string | undefined): string {
  if (FALLBACK.every(([name]) => message.search(name) < 0)) return message;
  let text = translated(message);
  for (const [name, instead] of FALLBACK) text = text.replaceAll(name, instead);
  return text.replaceAll('OPERATION', operationId ?? 'OPERATION_ID');
}
