import type { JSX } from 'preact';
import type { CallSummary } from '../../api/types.js';
import { attemptsText, endOf, formatDuration } from '../lib/format.js';
import { Time } from './basics.js';
import { CodeBadge } from './states.js';

/** A short list of calls, each with a link. The long list is virtual. */
export function CallTable({ calls }: { readonly calls: readonly CallSummary[] }): JSX.Element {
  return (
    <div class="table-wrap">
      <table>
        <thead>
          <tr>
            <th scope="col">Ended</th>
            <th scope="col">Tool</th>
            <th scope="col">Code</th>
            <th scope="col" class="num">
              Attempts
            </th>
            <th scope="col" class="num">
              Elapsed
            </th>
          </tr>
        </thead>
        <tbody>
          {calls.map((call) => (
            <tr key={call.seq}>
              <td>
                <a href={`/calls/${call.seq}`}>
                  <Time at={endOf(call)} />
                </a>
              </td>
              <td>{call.tool}</td>
              <td>
                <CodeBadge code={call.code} outcome={call.outcome} />
              </td>
              <td class="num">{attemptsText(call)}</td>
              <td class="num">{formatDuration(call.elapsed_ms)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
