import type { JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { AuditRow, AuditStatus } from '../../api/types.js';
import { api, withParameters, type Answer } from '../data/api.js';
import { useLoad } from '../data/load.js';
import { live } from '../data/stream.js';
import { formatCount } from '../lib/format.js';
import { actorText, auditText } from '../ui/audit-text.js';
import { Age, Badge, Empty, Facts, Id, Note, Time, type Tone } from '../ui/basics.js';
import { Icon } from '../ui/icons.js';
import { JsonTree } from '../ui/json-tree.js';
import { PageHead, Result } from '../ui/page.js';

export function Audit(): JSX.Element {
  const status = live.value?.audit;
  return (
    <>
      <PageHead
        title="Audit"
        lead="Every decision and every state change of an operation, each entry bound to the one before by a hash."
      />
      {status && <Chain status={status} />}
      <Rows head={status?.head?.seq ?? 0} />
    </>
  );
}

const STATES: Readonly<Record<AuditStatus['state'], readonly [Tone, string]>> = {
  valid: ['ok', 'The chain is intact'],
  verifying: ['info', 'Verifying'],
  invalid: ['danger', 'The chain is broken'],
};

function Chain({ status }: { readonly status: AuditStatus }): JSX.Element {
  const [expected, setExpected] = useState('');
  const [answer, setAnswer] = useState<Answer<AuditStatus> | undefined>(undefined);
  const [isRunning, setRunning] = useState(false);
  const id = useId();
  const verify = async (): Promise<void> => {
    setRunning(true);
    setAnswer(await api.verify(expected.trim()));
    setRunning(false);
  };
  const { head, verified, problems, problem_count, anchor } = status;
  const [tone, word] = STATES[status.state];
  return (
    <section class="card" aria-labelledby="chain">
      <div class="card-head">
        <h2 id="chain">Hash chain</h2>
        <Badge tone={tone}>{word}</Badge>
      </div>
      <div class="card-body">
        <Facts
          facts={[
            {
              name: 'Last verified position',
              value: verified ? (
                <>
                  {formatCount(verified.seq)} of {formatCount(head?.seq ?? 0)} entries,{' '}
                  <Age at={verified.at} />
                </>
              ) : (
                'not yet'
              ),
            },
            {
              name: 'Head',
              value: head ? (
                <code class="wrap-anywhere">
                  {head.seq}:{head.hash}
                </code>
              ) : (
                'no entry yet'
              ),
            },
            { name: 'What an anchor outside adds', value: anchor },
          ]}
        />
        {problems.length > 0 && <Problems status={status} />}
        {problem_count > problems.length && (
          <p class="small muted">and {problem_count - problems.length} more</p>
        )}
        <div class="filters">
          <label class="visually-hidden" for={id}>
            A head that you stored outside
          </label>
          <input
            id={id}
            class="input is-search mono"
            placeholder="Stored head: SEQ:HASH"
            value={expected}
            onInput={({ currentTarget }) => setExpected(currentTarget.value)}
          />
          <button type="button" class="button" disabled={isRunning} onClick={() => void verify()}>
            {isRunning ? 'Verifying …' : 'Verify the whole chain now'}
          </button>
          <span class="actions export">
            {['jsonl', 'csv'].map((format) => (
              <a
                key={format}
                class="button is-small"
                href={withParameters('/api/audit/export', { format })}
                download
                data-external="true"
              >
                <Icon name="download" /> {format.toUpperCase()}
              </a>
            ))}
          </span>
        </div>
        <div aria-live="polite">
          {answer?.ok && <Verified status={answer.value} />}
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

function Verified({ status }: { readonly status: AuditStatus }): JSX.Element {
  return status.state === 'invalid' ? (
    <Note tone="danger" title="The chain does not verify">
      <Problems status={status} />
    </Note>
  ) : (
    <Note tone="ok" title="Verified from the first entry to the head" />
  );
}

function Problems({ status: { problems } }: { readonly status: AuditStatus }): JSX.Element {
  return (
    <ul class="problems">
      {problems.map(({ kind, seq, message }) => (
        <li key={`${kind} ${seq}`}>
          <Badge tone="danger">{kind.replaceAll('_', ' ')}</Badge> at {seq}: {message}
        </li>
      ))}
    </ul>
  );
}

const PAGE = 100;

function Rows({ head }: { readonly head: number }): JSX.Element {
  const [limit, setLimit] = useState(PAGE);
  const loaded = useLoad(() => api.auditRows({ limit }), `rows ${limit}`, head);
  return (
    <section class="card" aria-labelledby="entries">
      <div class="card-head">
        <h2 id="entries">Entries</h2>
      </div>
      <Result loaded={loaded} what="the audit">
        {({ rows, next }) =>
          rows.length === 0 ? (
            <Empty title="No entries yet">
              <p>The first mutation or decision writes one.</p>
            </Empty>
          ) : (
            <>
              <div class="table-wrap" tabIndex={0} role="group" aria-labelledby="entries">
                <table class="stacks">
                  <thead>
                    <tr>
                      <th scope="col">Position</th>
                      <th scope="col">When</th>
                      <th scope="col">What</th>
                      <th scope="col">Who</th>
                      <th scope="col">Operation</th>
                      <th scope="col">Detail</th>
                    </tr>
                  </thead>
                  <tbody>
                    {rows.map((row) => (
                      <Row key={row.seq} row={row} />
                    ))}
                  </tbody>
                </table>
              </div>
              {next !== undefined && (
                <div class="card-body">
                  <button type="button" class="button" onClick={() => setLimit(limit + PAGE)}>
                    Show more
                  </button>
                </div>
              )}
            </>
          )
        }
      </Result>
    </section>
  );
}

function Row({ row }: { readonly row: AuditRow }): JSX.Element {
  const { seq, at, actor, operation_id, tool, detail, hash, malformed } = row;
  return (
    <tr>
      <th scope="row" class="cell-name" title={hash}>
        {seq}
      </th>
      <td data-label="When">
        <Time at={at} />
      </td>
      <td data-label="What">
        {auditText(row)}
        {malformed !== undefined && <Badge tone="danger">{malformed}</Badge>}
      </td>
      <td data-label="Who" class="wrap-anywhere" title={actor}>
        {actorText(actor)}
      </td>
      <td data-label="Operation">
        {operation_id === undefined ? (
          <span class="muted">–</span>
        ) : (
          <Id id={operation_id} href={`/operations/${operation_id}`} />
        )}
        {tool !== undefined && <div class="small muted">{tool}</div>}
      </td>
      <td data-label="Detail">
        {Object.keys(detail).length > 0 ? <JsonTree value={detail} open={0} /> : '–'}
      </td>
    </tr>
  );
}
