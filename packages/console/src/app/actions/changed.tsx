import type { JSX } from 'preact';
import type { Preview } from '../../api/types.js';
import { clock } from '../lib/clock.js';
import { formatAge } from '../lib/format.js';
import { LABELS } from './labels.js';

/** A preview that changed while its dialog was open can be confirmed after this time. */
const READ_MS = 1000;

/** What the button of an open dialog does is not what it did when the operator looked. */
export interface Change {
  readonly at: number;
  readonly text: string;
}

/** The operator has not had the time to read it: the button stays disabled. */
export const isUnread = (change: Change | undefined): boolean =>
  change !== undefined && clock.value - change.at < READ_MS;

/** What the button says that executes the preview. */
export function confirmText({ action, checks }: Preview): string {
  const { confirm, confirmStopped = confirm } = LABELS[action];
  return checks.some(({ result }) => result === 'blocks') ? confirmStopped : confirm;
}

/** Warnings of a check are among the consequences of an approval, but not of a read-back. */
export function consequenceTexts({ consequences, checks }: Preview): readonly string[] {
  const warnings = checks.filter(({ result }) => result === 'warns').map(({ text }) => text);
  return [...new Set([...consequences, ...warnings])];
}

/**
 * What changed between two previews of an action, as a sentence; undefined if the effect is the same. `isSameInput`:
 * the operator typed nothing in between, so other consequences are a change of the state.
 */
export function changeText(was: Preview, is: Preview, isSameInput = true): string | undefined {
  const [before, after] = [confirmText(was), confirmText(is)];
  if (before !== after) return `the button was “${before}” and is now “${after}”.`;
  if (was.refused !== is.refused) {
    return is.refused === undefined ? 'it is possible now.' : 'it is not possible any more.';
  }
  const isSame = consequenceTexts(was).join(' ') === consequenceTexts(is).join(' ');
  if (isSameInput && !isSame) return 'what happens when you press. Read it again.';
  return was.version === is.version ? undefined : 'the state. Read it again.';
}

/** By the minute: a status that changes each second is read out each second. */
function ageText(at: number): string {
  const age = clock.value - at;
  return age < 60_000 ? 'just now' : `${formatAge(age)} ago`;
}

/** Above the buttons, where it is seen without scrolling. */
export function Changed({ change }: { readonly change: Change | undefined }): JSX.Element {
  return (
    <div class="changed" role="status">
      {change && (
        <p key={change.at} class="note is-warn">
          <span>
            <b>Changed {ageText(change.at)}:</b> {change.text}
          </span>
        </p>
      )}
    </div>
  );
}
