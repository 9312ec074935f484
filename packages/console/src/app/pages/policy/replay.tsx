import type { JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { PolicyResponse, ReplayCounts, ReplayResponse } from '../../../api/types.js';
import { api, type Answer } from '../../data/api.js';
import { formatCount } from '../../lib/format.js';
import { Badge, Copy, Note, Time } from '../../ui/basics.js';
import { DECISIONS } from './policy.js';

const RANGES = [
  ['24h', 'the last 24 hours'],
  ['7d', 'the last 7 days'],
  ['30d', 'the last 30 days'],
] as const;

/** A changed policy over the operations of the journal, before the operator saves it to the file. */
export function Replay({ policy }: { readonly policy: PolicyResponse }): JSX.Element {
  const [text, setText] = useState(() => JSON.stringify(policy.config, null, 2));
  const [since, setSince] = useState('7d');
  const [mistake, setMistake] = useState('');
  const [isRunning, setRunning] = useState(false);
  const [answer, setAnswer] = useState<Answer<ReplayResponse> | undefined>(undefined);
  const id = useId();
  const run = async (): Promise<void> => {
    const config = parse(text);
    setMistake(config ? '' : 'This is not a JSON object.');
    if (!config) return;
    setRunning(true);
    setAnswer(await api.replay({ config, since }));
    setRunning(false);
  };
  return (
    <section class="card" aria-labelledby="replay">
      <div class="card-head">
        <h2 id="replay">Try a change on what really happened</h2>
        <span class="muted small">Nothing is changed or executed</span>
      </div>
      <div class="card-body">
        <div class="field">
          <label for={id}>
            Rules, limits and mode, as in {policy.file ?? 'the configuration file'}
          </label>
          <textarea
            id={id}
            class="input mono is-tall"
            spellcheck={false}
            value={text}
            aria-invalid={mistake !== ''}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
          {mistake !== '' && <span class="error">{mistake}</span>}
        </div>
        <div class="actions">
          <select
            class="input is-auto"
            aria-label="Time range"
            value={since}
            onChange={({ currentTarget }) => setSince(currentTarget.value)}
          >
            {RANGES.map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
          <button
            type="button"
            class="button is-primary"
            disabled={isRunning}
            onClick={() => void run()}
          >
            {isRunning ? 'Replaying …' : 'Replay'}
          </button>
          <Copy text={text} label="Copy for the file" />
        </div>
        <div aria-live="polite">
          {answer?.ok && <Replayed response={answer.value} />}
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

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}

const COLUMNS: readonly (readonly [keyof ReplayCounts, string])[] = [
  ['allow', 'Allowed'],
  ['require_approval', 'Asked'],
  ['dry_run', 'Dry run'],
  ['deny', 'Denied'],
  ['limited', 'Limited'],
];

function Replayed({ response }: { readonly response: ReplayResponse }): JSX.Element {
  const { mistakes = [], text, now, changed, differences, skipped, operations } = response;
  if (mistakes.length > 0) {
    return (
      <Note tone="danger" title="The rules have mistakes: nothing was replayed">
        <ul>
          {mistakes.map(({ path, message }) => (
            <li key={`${path} ${message}`} class="wrap-anywhere">
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      </Note>
    );
  }
  return (
    <div class="section">
      <Note tone={differences.length === 0 ? 'ok' : 'info'} title={text}>
        {operations === 0 && 'There is no operation in this time range to replay.'}
        {skipped > 0 && `${formatCount(skipped)} operations could not be evaluated here.`}
      </Note>
      <div class="table-wrap">
        <table>
          <thead>
            <tr>
              <th scope="col">Policy</th>
              {COLUMNS.map(([, name]) => (
                <th key={name} scope="col" class="num">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {(
              [
                ['In force', now],
                ['Changed', changed],
              ] as const
            ).map(([name, counts]) => (
              <tr key={name}>
                <th scope="row" class="cell-name">
                  {name}
                </th>
                {COLUMNS.map(([key]) => (
                  <td key={key} class={counts[key] === now[key] ? 'num' : 'num tone-warn'}>
                    {formatCount(counts[key])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {differences.length > 0 && (
        <ul class="rules is-plain">
          {differences.map((difference) => (
            <li key={difference.operation_id} class="rule">
              <span class="nowrap">
                <Decision name={difference.was.decision} /> →{' '}
                <Decision name={difference.becomes.decision} />
              </span>
              <div>
                <a href={`/operations/${difference.operation_id}`}>{difference.tool}</a>{' '}
                <span class="muted small">
                  <Time at={difference.created_at} />
                  {difference.becomes.rule !== undefined && ` · ${difference.becomes.rule}`}
                </span>
                {difference.decisive && <p class="truncate small">{difference.decisive.value}</p>}
              </div>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Decision({ name }: { readonly name: string }): JSX.Element {
  const [tone, word] = DECISIONS[name] ?? ['idle', name];
  return <Badge tone={tone}>{word}</Badge>;
}
