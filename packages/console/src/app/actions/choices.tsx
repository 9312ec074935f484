import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import type { Action, ActionName, Preview } from '../../api/types.js';
import { Loading } from '../ui/basics.js';
import { consequenceTexts } from './changed.js';
import { LABELS } from './labels.js';
import { usePreviews } from './previews.js';

interface ChoicesProps {
  readonly names: readonly ActionName[];
  /** What is shown of it includes what the operator has filled in. */
  readonly chosen: Preview;
  readonly name: ActionName;
  readonly onChoose: (name: ActionName) => void;
  readonly isOff: boolean;
}

/** Ways to do it, each with its own consequence, so that they can be compared before one is chosen. */
export function Choices({ names, chosen, name, onChoose, isOff }: ChoicesProps): JSX.Element {
  const id = useId();
  const { operation_id } = chosen;
  const actions = names.map((action): Action => ({ action, operation_id }));
  const { answers } = usePreviews(actions, isOff);
  if (!answers) return <Loading what="the consequences" />;
  const textOf = (at: number): string => {
    if (chosen.action === names[at]) return consequenceTexts(chosen).join(' ');
    const answer = answers[at];
    return answer?.ok
      ? consequenceTexts(answer.value).join(' ')
      : 'Not known: choose it to try again.';
  };
  return (
    <section aria-label="What happens">
      <fieldset class="plain choices" disabled={isOff}>
        <legend class="visually-hidden">How to settle it</legend>
        {names.map((one, at) => (
          <label key={one} class={one === name ? 'choice is-chosen' : 'choice'}>
            <input
              type="radio"
              name={id}
              aria-labelledby={`${id}-${one}`}
              aria-describedby={`${id}-${one}-text`}
              checked={one === name}
              onChange={() => onChoose(one)}
            />
            <span>
              <b id={`${id}-${one}`}>{LABELS[one].choice ?? LABELS[one].name}</b>
              <span id={`${id}-${one}-text`} class="small">
                {textOf(at)}
              </span>
            </span>
          </label>
        ))}
      </fieldset>
    </section>
  );
}
