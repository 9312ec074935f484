import type { JSX } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import type { ActResponse, Action, ActionName, Arguments, Preview } from '../../api/types.js';
import { api, type Failure } from '../data/api.js';
import { connection, live, noteChange } from '../data/stream.js';
import { Loading, Note } from '../ui/basics.js';
import { Dialog } from '../ui/dialog.js';
import { Changed, changeText, confirmText, isUnread, type Change } from './changed.js';
import { Choices } from './choices.js';
import { LABELS, NEEDS } from './labels.js';
import { Outcome } from './outcome.js';
import { Consequence, Moved, Subject } from './preview-view.js';
import { passedTimes, SETTLE_MS } from './previews.js';
import { ResultForm } from './result-form.js';

interface ActionDialogProps {
  readonly action: Action;
  /** Other actions that the operator can change to. */
  readonly choices?: readonly ActionName[];
  /** `isDone`: the action was executed. */
  readonly onClose: (isDone: boolean) => void;
}

type Phase =
  | { readonly name: 'previewing' }
  /** `body`: the action that the preview is of. */
  | {
      readonly name: 'previewed';
      readonly preview: Preview;
      readonly body: string;
      /** It replaced another one that the operator may have been about to confirm. */
      readonly change?: Change;
    }
  | { readonly name: 'acting'; readonly preview: Preview }
  | { readonly name: 'failed'; readonly failure: Failure }
  | { readonly name: 'done'; readonly response: ActResponse; readonly isPost: boolean };

/**
 * One action from its consequence to its result. The press carries the version of the previewed state: if the state
 * has moved, the server executes nothing, and this shows what moved.
 */
export function ActionDialog({
  action: first,
  choices = [],
  onClose: onEnd,
}: ActionDialogProps): JSX.Element {
  const onClose = (): void => onEnd(false);
  const [phase, setPhase] = useState<Phase>({ name: 'previewing' });
  const [name, setName] = useState(first.action);
  const [reason, setReason] = useState('');
  const [data, setData] = useState<Arguments | undefined>(undefined);
  const [isFormReady, setFormReady] = useState(false);
  const label = LABELS[name];
  const needs = NEEDS[name];
  const takesReason = needs === 'reason' || needs === 'required reason';
  const full: Action = {
    ...first,
    action: name,
    ...(takesReason && reason.trim() !== '' && { reason: reason.trim() }),
    ...(needs === 'result' && data && { data }),
  };
  const choose = (next: ActionName): void => {
    setName(next);
    // Its form is empty again, too.
    setData(undefined);
    setFormReady(false);
  };
  const lacksReason = needs === 'required reason' && reason.trim() === '';
  const body = JSON.stringify(full);

  const preview = async (isCurrent: () => boolean): Promise<void> => {
    const answer = await api.preview(full);
    if (!isCurrent()) return;
    const next = answer.ok
      ? ({ name: 'previewed', preview: answer.value, body } as const)
      : ({ name: 'failed', failure: answer.failure } as const);
    setPhase((before): Phase => {
      if (before.name === 'acting' || before.name === 'done') return before;
      if (before.name !== 'previewed') return next;
      const isSameInput = before.body === body;
      // The page says that the connection is lost; the last preview stays.
      if (next.name !== 'previewed') return isSameInput ? before : next;
      if (before.preview.action !== next.preview.action) return next;
      const text = changeText(before.preview, next.preview, isSameInput);
      const change = text === undefined ? before.change : { at: Date.now(), text };
      return { ...next, ...(change && { change }) };
    });
  };
  const { processes, operationsVersion = 0 } = live.value ?? {};
  const shown = 'preview' in phase ? phase.preview : undefined;
  const passed = shown && passedTimes(shown);
  useEffect(() => {
    if (phase.name === 'done' || phase.name === 'failed') return undefined;
    let isCurrent = true;
    const timer = setTimeout(
      () => void preview(() => isCurrent),
      phase.name === 'previewing' ? 0 : SETTLE_MS,
    );
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [body, processes, operationsVersion, passed]);

  const act = async (from: Preview): Promise<void> => {
    setPhase({ name: 'acting', preview: from });
    const answer = await api.act({ ...full, version: from.version });
    if (answer.ok) {
      noteChange();
      setPhase({ name: 'done', response: answer.value, isPost: from.text?.kind === 'post' });
    } else setPhase({ name: 'failed', failure: answer.failure });
  };

  if (phase.name === 'done') {
    const { response, isPost } = phase;
    const onDone = (): void => onEnd(true);
    return (
      <Dialog title="Result" onClose={onDone} foot={<Close onClose={onDone} primary />}>
        <Outcome response={response} isPost={isPost} />
      </Dialog>
    );
  }
  if (phase.name === 'failed') {
    const { failure } = phase;
    const again = failure.body?.preview;
    const foot = (
      <>
        <Close onClose={onClose} />
        <button
          type="button"
          class="button is-primary"
          onClick={() => {
            if (again) {
              // Its button may appear under the cursor.
              const change = { at: Date.now(), text: 'the state. Read it again.' };
              setPhase({ name: 'previewed', preview: again, body, change });
            } else {
              setPhase({ name: 'previewing' });
              void preview(() => true);
            }
          }}
        >
          Show the consequence now
        </button>
      </>
    );
    return (
      <Dialog title={movedTitle(failure)} onClose={onClose} foot={foot}>
        <Refusal failure={failure} />
      </Dialog>
    );
  }

  const isLost = connection.value.state === 'lost';
  // A preview of an earlier text is shown until the next one is there, but not acted on.
  const isCurrent = phase.name === 'previewed' && phase.body === body && !isUnread(phase.change);
  const isComplete = !lacksReason && (needs !== 'result' || isFormReady);
  const canAct = isCurrent && isComplete && shown?.refused === undefined && !isLost;
  const foot = (
    <>
      <Changed change={phase.name === 'previewed' ? phase.change : undefined} />
      <Close onClose={onClose} />
      <button
        type="button"
        class={label.danger ? 'button is-danger' : 'button is-primary'}
        disabled={!canAct}
        onClick={() => shown && void act(shown)}
      >
        {phase.name === 'acting'
          ? (label.busy ?? 'Sending …')
          : shown?.action === name
            ? confirmText(shown)
            : label.confirm}
      </button>
    </>
  );
  return (
    <Dialog title={label.title} onClose={onClose} foot={foot}>
      {!shown && <Loading what="the consequence" />}
      {shown && <Subject preview={shown} />}
      {shown && choices.length > 1 && (
        <Choices
          names={choices}
          chosen={shown}
          name={name}
          onChoose={choose}
          isOff={phase.name === 'acting'}
        />
      )}
      {shown && shown.action === name && (
        <Consequence preview={shown} isIncomplete={lacksReason} isSaid={choices.length > 1}>
          {takesReason && (
            <Reason
              name={name}
              isRequired={needs === 'required reason'}
              text={reason}
              onChange={setReason}
              isOff={phase.name === 'acting'}
            />
          )}
          {needs === 'result' && (
            <ResultForm preview={shown} onReady={setFormReady} onChange={setData} />
          )}
        </Consequence>
      )}
    </Dialog>
  );
}

function movedTitle({ code }: Failure): string {
  if (code === 'state_moved') return 'The state has changed: nothing was executed';
  if (code === 'already') return 'Another operator was first: nothing was executed';
  if (code === 'unreachable') return 'No response';
  return 'Nothing was executed';
}

/** Why nothing happened, and what is different now. */
function Refusal({ failure }: { readonly failure: Failure }): JSX.Element {
  const difference = failure.body?.difference ?? [];
  return (
    <>
      <Note tone={failure.code === 'unreachable' ? 'unknown' : 'danger'} role="alert">
        <strong>{failure.message}</strong> {failure.whatToDo}
      </Note>
      {difference.length > 0 && (
        <section class="section">
          <h3>What changed since you looked</h3>
          <Moved difference={difference} />
        </section>
      )}
    </>
  );
}

function Close({
  onClose,
  primary = false,
}: {
  readonly onClose: () => void;
  readonly primary?: boolean;
}): JSX.Element {
  return (
    <button type="button" class={primary ? 'button is-primary' : 'button'} onClick={onClose}>
      {primary ? 'Close' : 'Cancel'}
    </button>
  );
}

interface ReasonProps {
  readonly name: ActionName;
  readonly isRequired: boolean;
  readonly text: string;
  readonly onChange: (text: string) => void;
  readonly isOff: boolean;
}

function Reason({ name, isRequired, text, onChange, isOff }: ReasonProps): JSX.Element {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{isRequired ? 'How do you know? (required)' : 'Reason (optional)'}</label>
      <textarea
        id={id}
        class="input"
        maxLength={500}
        value={text}
        disabled={isOff}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
      <span class="hint">
        {name === 'reject' ? 'Say what to do instead.' : 'Kept in the audit.'}
      </span>
    </div>
  );
}
