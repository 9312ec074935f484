import type { JSX } from 'preact';
import type { ProcessState } from '../../../api/types.js';
import { plural } from '../../lib/format.js';
import { Age, Badge, Empty, Time, type Tone } from '../../ui/basics.js';

const STATE: Readonly<Record<ProcessState['state'], readonly [Tone, string]>> = {
  live: ['ok', 'Live'],
  ended: ['idle', 'Ended'],
  lost: ['danger', 'Lost'],
};

export function Processes({
  processes,
}: {
  readonly processes: readonly ProcessState[];
}): JSX.Element {
  return (
    <section class="card" aria-labelledby="processes">
      <div class="card-head">
        <h2 id="processes">Processes</h2>
        <span class="muted small">Every server that shares this journal, on stdio too</span>
      </div>
      {processes.length === 0 ? (
        <Empty title="No process has reported yet">
          <p>A server reports a few seconds after its start.</p>
        </Empty>
      ) : (
        <div class="table-wrap" tabIndex={0} role="group" aria-labelledby="processes">
          <table class="stacks">
            <thead>
              <tr>
                <th scope="col">Process</th>
                <th scope="col">State</th>
                <th scope="col">Serves</th>
                <th scope="col">Started</th>
                <th scope="col">Last report</th>
                <th scope="col" class="num">
                  In flight
                </th>
              </tr>
            </thead>
            <tbody>
              {processes.map((process) => (
                <ProcessRow key={process.id} process={process} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function ProcessRow({ process }: { readonly process: ProcessState }): JSX.Element {
  const [tone, text] = STATE[process.state];
  const tools = process.packs.reduce((sum, pack) => sum + pack.tools.length, 0);
  return (
    <tr>
      <th scope="row" class="cell-name">
        {process.name} {process.here && <span class="muted">(this page)</span>}
        <div class="small muted">
          {process.machine} · pid {process.pid}
        </div>
      </th>
      <td data-label="State">
        <Badge tone={tone}>{text}</Badge>
        {process.state === 'lost' && (
          <div class="small muted">stopped reporting without an end</div>
        )}
      </td>
      <td data-label="Serves" class="small">
        {process.packs.map(({ name }) => name).join(', ') || 'no pack yet'}
        <div class="muted">
          {plural(tools, 'tool')} · {process.transport} · {process.profile}
        </div>
      </td>
      <td data-label="Started">
        <Time at={process.started_at} />
      </td>
      <td data-label="Last report">
        <Age at={process.reported_at} />
      </td>
      <td data-label="In flight" class="num">
        {process.in_flight}
      </td>
    </tr>
  );
}
