import type { JSX } from 'preact';
import type { ActResponse } from '../../api/types.js';
import { api } from '../data/api.js';
import { useLoad } from '../data/load.js';
import { live } from '../data/stream.js';
import { executionText, OUTCOMES, outcomeOf } from '../pages/operations/outcomes.js';
import { Facts, Note, Time, type Tone } from '../ui/basics.js';
import { JsonTree } from '../ui/json-tree.js';
import { OperationBadge } from '../ui/states.js';

interface OutcomeProps {
  readonly response: ActResponse;
  /** What was approved is a post. */
  readonly isPost: boolean;
}

/** The result of an action, not the request: the operation is followed until it settles. */
export function Outcome({ response, isPost }: OutcomeProps): JSX.Element {
  const { operation: first, text, audit } = response;
  const loaded = useLoad(
    () => api.operation(first.id),
    first.id,
    live.value?.operationsVersion ?? 0,
  );
  const operation = loaded.value?.operation ?? first;
  const { answer, blocked, state } = operation;
  const isApproval = response.action === 'approve' || response.action === 'edit_and_approve';
  // What the response says of the execution is over.
  const isOver = isApproval && state !== 'awaiting_approval';
  return (
    <>
      <Note
        tone={isApproval ? OUTCOMES[outcomeOf(operation)].tone : toneOf(response)}
        role="status"
      >
        <strong>{isOver ? executionText(operation, isPost) : text}</strong>
      </Note>
      <Facts
        facts={[
          { name: 'State now', value: <OperationBadge operation={operation} /> },
          {
            name: 'Settled',
            value: operation.settled_at && <Time at={operation.settled_at} zone />,
          },
          // The result of a read-back says it, with its cause.
          {
            name: 'Waits because',
            value: response.action !== 'check_upstream' && blocked?.explanation,
          },
          {
            name: 'Result',
            value: answer && <JsonTree value={answer.error ?? answer.data} />,
          },
          {
            name: 'Audit entry',
            value: audit && (
              <a href="/audit">
                {audit.seq}: {audit.kind}
              </a>
            ),
          },
        ].map((fact) => (fact.value === false ? false : fact))}
      />
    </>
  );
}

function toneOf({ action, settled }: ActResponse): Tone {
  if (action === 'check_upstream') return settled === true ? 'ok' : 'unknown';
  return 'ok';
}
