import type { JSX } from 'preact';
import type { OperationSummary } from '../../api/types.js';

/** Texts that people wrote need no name beside them. */
const TEXT = /^(?:text|title|body|message|content|subject|comment)$/;

export const isWritten = ({ decisive }: Pick<OperationSummary, 'decisive'>): boolean =>
  decisive !== undefined && TEXT.test(decisive.name);

/** The argument by which a person recognises an operation: its text, else what it acts on. */
export function Decisive({
  operation: { decisive, tool },
}: {
  readonly operation: Pick<OperationSummary, 'decisive' | 'tool'>;
}): JSX.Element {
  if (!decisive) return <>{tool}</>;
  const { name, value, cut } = decisive;
  return (
    <>
      {!TEXT.test(name) && <span class="muted">{name.replaceAll('_', ' ')} </span>}
      {value}
      {cut && ' …'}
    </>
  );
}
