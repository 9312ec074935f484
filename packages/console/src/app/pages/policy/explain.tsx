import type { JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { ExplainResponse } from '../../../api/types.js';
import { api, type Answer } from '../../data/api.js';
import { useLoad } from '../../data/load.js';
import { FormFields } from '../../forms/form-fields.js';
import { fieldsOf, readForm, type Texts } from '../../forms/schema-form.js';
import { Badge, Note } from '../../ui/basics.js';
import { DECISIONS } from './policy.js';

/** What would happen to a call, without calling. */
export function Explain(): JSX.Element {
  const tools = useLoad(api.tools, 'tools');
  const [name, setName] = useState('');
  const [texts, setTexts] = useState<Texts>({});
  const [answer, setAnswer] = useState<Answer<ExplainResponse> | undefined>(undefined);
  const [showErrors, setShowErrors] = useState(false);
  const id = useId();
  const known = tools.value?.tools ?? [];
  const tool = known.find((one) => one.name === name);
  const fields = tool ? fieldsOf(tool.input_schema) : [];
  const { values, errors } = readForm(fields, texts);
  const explain = async (): Promise<void> => {
    setShowErrors(true);
    if (Object.keys(errors).length > 0) return;
    setAnswer(await api.explain({ tool: name, arguments: values }));
  };
  return (
    <section class="card" aria-labelledby="explain">
      <div class="card-head">
        <h2 id="explain">What would happen to a call?</h2>
        <span class="muted small">Nothing is called</span>
      </div>
      <div class="card-body">
        <div class="field">
          <label for={id}>Tool</label>
          <select
            id={id}
            class="input"
            value={name}
            onChange={({ currentTarget }) => {
              setName(currentTarget.value);
              setTexts({});
              setAnswer(undefined);
              setShowErrors(false);
            }}
          >
            <option value="">Choose a tool</option>
            {known
              .toSorted((a, b) => Number(b.mutation) - Number(a.mutation))
              .map((one) => (
                <option key={one.name} value={one.name}>
                  {one.name} ({one.effect})
                </option>
              ))}
          </select>
        </div>
        {tool && (
          <>
            <FormFields
              fields={fields}
              texts={texts}
              errors={showErrors ? errors : {}}
              onChange={setTexts}
            />
            <div class="actions">
              <button type="button" class="button is-primary" onClick={() => void explain()}>
                Explain
              </button>
            </div>
          </>
        )}
        <div aria-live="polite">
          {answer?.ok && <Explanation response={answer.value} />}
          {answer?.ok === false && (
            <Note tone="danger" title={answer.failure.message}>
              {answer.failure.whatToDo}
            </Note>
          )}
        </div>
      </div>
    </section>
  );
}

function Explanation({ response }: { readonly response: ExplainResponse }): JSX.Element {
  const { decision, explanation, rules, rule, limits } = response;
  const [tone, word] = DECISIONS[decision ?? ''] ?? ['idle', 'Depends on the arguments'];
  return (
    <div class="section">
      <Note tone={tone}>
        <Badge tone={tone}>{word}</Badge> <strong>{rule}</strong>
        <p>{explanation}</p>
        {limits.map(({ name, max, window_secs }) => (
          <p key={name} class="small muted">
            Counts towards the limit {name}: {max} in {window_secs} s.
          </p>
        ))}
      </Note>
      <ol class="rules is-plain">
        {rules.map((each, at) => (
          <li key={at} class="rule">
            <Badge tone={each.decides ? tone : 'idle'}>
              {each.decides ? 'Decides' : each.matches === 'yes' ? 'Matches' : 'Does not match'}
            </Badge>
            <div>
              <strong class="wrap-anywhere">{each.rule}</strong>
              <span class="muted small"> · {each.action.replaceAll('_', ' ')}</span>
              {(each.conditions ?? []).map(({ condition, holds, found }) => (
                <p key={condition} class="small wrap-anywhere">
                  {condition}: <strong>{holds}</strong>
                  {found !== undefined && <span class="muted"> (found {found})</span>}
                </p>
              ))}
            </div>
          </li>
        ))}
      </ol>
    </div>
  );
}
