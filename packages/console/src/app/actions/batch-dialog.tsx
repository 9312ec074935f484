import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ActResponse, ApprovalSummary, Preview } from '../../api/types.js';
import { api, type Answer } from '../data/api.js';
import { connection } from '../data/stream.js';
import { plural } from '../lib/format.js';
import { compareArguments } from '../pages/approvals/batch.js';
import { Badge, Loading, Note } from '../ui/basics.js';
import { Dialog } from '../ui/dialog.js';
import { JsonTree } from '../ui/json-tree.js';
import { Changed, isUnread } from './changed.js';
import { usePreviews } from './previews.js';

interface BatchDialogProps {
  readonly approvals: readonly ApprovalSummary[];
  readonly onClose: () => void;
}

type Results = ReadonlyMap<string, Answer<ActResponse>>;

/**
 * Approves several calls of one tool and rule: what is the same is shown once, what differs for each. Each is decided
 * on its own, with the version of its own preview.
 */
export function BatchDialog({ approvals, onClose }: BatchDialogProps): JSX.Element {
  const [results, setResults] = useState<Results | undefined>(undefined);
  const [isActing, setActing] = useState(false);
  const isDecided = isActing || results !== undefined;
  const { answers, change } = usePreviews(
    approvals.map(({ id }) => ({ action: 'approve', operation_id: id })),
    isDecided,
  );
  const ready = approvals.flatMap(({ id }, at) => {
    const answer = answers?.[at];
    return answer?.ok && answer.value.refused === undefined ? [{ id, preview: answer.value }] : [];
  });
  const act = async (): Promise<void> => {
    setActing(true);
    const done = new Map<string, Answer<ActResponse>>();
    // One after the other: the second sees what the first has consumed.
    for (const { id, preview } of ready) {
      const { version } = preview;
      done.set(id, await api.act({ action: 'approve', operation_id: id, version }));
      setResults(new Map(done));
    }
    setActing(false);
  };
  // Another operator may have edited them since the dialog was opened.
  const compared = approvals.map(({ arguments: args = {} }, at) => {
    const answer = answers?.[at];
    return { arguments: (answer?.ok ? answer.value.arguments : undefined) ?? args };
  });
  const { same, different } = compareArguments(compared);
  const isLost = connection.value.state === 'lost';
  const foot = (
    <>
      <Changed change={isDecided ? undefined : change} />
      <button type="button" class="button" onClick={onClose}>
        {results ? 'Close' : 'Cancel'}
      </button>
      {!results && (
        <button
          type="button"
          class="button is-primary"
          disabled={ready.length === 0 || isActing || isUnread(change) || isLost}
          onClick={() => void act()}
        >
          Approve {plural(ready.length, 'call')}
        </button>
      )}
    </>
  );
  return (
    <Dialog title={`Approve ${approvals[0]?.tool ?? ''}`} onClose={onClose} foot={foot}>
      {!answers && <Loading what="the consequences" />}
      {answers && !isDecided && ready.length < approvals.length && (
        <Note tone="danger">
          {plural(approvals.length - ready.length, 'call')} cannot be approved now and will be left.
        </Note>
      )}
      {Object.keys(same).length > 0 && (
        <details class="fold">
          <summary>The same in all ({Object.keys(same).length})</summary>
          <JsonTree value={same} />
        </details>
      )}
      <section class="section">
        <h3>{different.length === 0 ? 'All arguments are equal' : 'Different'}</h3>
        <ul class="batch">
          {approvals.map((approval, at) => (
            <li key={approval.id}>
              <div>
                {different.map((name) => (
                  <p key={name} class="wrap-anywhere">
                    <span class="muted mono">{name}</span> {shown(compared[at]?.arguments[name])}
                  </p>
                ))}
                {different.length === 0 && <span class="mono">{approval.id}</span>}
              </div>
              <ItemState preview={answers?.[at]} result={results?.get(approval.id)} />
            </li>
          ))}
        </ul>
      </section>
    </Dialog>
  );
}

const shown = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? 'not set');

interface ItemStateProps {
  readonly preview: Answer<Preview> | undefined;
  readonly result: Answer<ActResponse> | undefined;
}

function ItemState({ preview, result }: ItemStateProps): JSX.Element | null {
  if (result) {
    return result.ok ? (
      <Badge tone="ok" title={result.value.text}>
        Approved
      </Badge>
    ) : (
      <Badge tone="danger" title={result.failure.message}>
        {result.failure.code === 'state_moved'
          ? 'State moved: not executed'
          : result.failure.message}
      </Badge>
    );
  }
  if (!preview) return null;
  if (!preview.ok) return <Badge tone="danger">{preview.failure.message}</Badge>;
  const { refused, checks } = preview.value;
  if (refused !== undefined) return <Badge tone="danger">{refused}</Badge>;
  const blocking = checks.find(({ result: found }) => found === 'blocks');
  if (blocking) return <Badge tone="warn">{blocking.text}</Badge>;
  return <Badge tone="ok">Can be executed</Badge>;
}
