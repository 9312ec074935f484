import type { CallSummary, InFlightCall } from '../../../api/types.js';

/** The filters of the list; their names are the parameters of the address and of the API. */
export interface CallFilter {
  readonly q: string;
  readonly tool: string;
  readonly code: string;
  readonly outcome: string;
  readonly process: string;
  readonly min_attempts: string;
  readonly since: string;
}

const NAMES = ['q', 'tool', 'code', 'outcome', 'process', 'min_attempts', 'since'] as const;

export function filterFrom(query: URLSearchParams): CallFilter {
  return Object.fromEntries(NAMES.map((name) => [name, query.get(name) ?? ''])) as Record<
    (typeof NAMES)[number],
    string
  >;
}

export const isFiltered = (filter: CallFilter): boolean =>
  NAMES.some((name) => filter[name] !== '');

const contains = (text: string | undefined, part: string): boolean =>
  text?.toLowerCase().includes(part) ?? false;

/** Whether a new call belongs to the list, by the rules of the API: the list is loaded from there. */
export function matchesCall(filter: CallFilter, call: CallSummary): boolean {
  const { q, tool, code, outcome, process, min_attempts } = filter;
  const part = q.toLowerCase();
  if (part !== '') {
    const { correlation_id, operation_id, account } = call;
    const texts = [call.tool, call.code, account, correlation_id, operation_id];
    if (!texts.some((text) => contains(text, part))) return false;
  }
  if (tool !== '' && call.tool !== tool) return false;
  if (code !== '' && !code.split(',').some((one) => isCode(call, one))) return false;
  if (outcome !== '' && call.outcome !== outcome) return false;
  if (process !== '' && call.process_id !== process) return false;
  return min_attempts === '' || call.attempts >= Number(min_attempts);
}

const isCode = ({ code }: CallSummary, wanted: string): boolean =>
  wanted === 'failed' ? code !== 'ok' && code !== 'approval_required' : code === wanted;

/** A call in flight has no code yet, so a filter for one hides it. */
export function matchesInFlight(filter: CallFilter, call: InFlightCall): boolean {
  const { q, tool, code, outcome, process, min_attempts } = filter;
  const part = q.toLowerCase();
  if (code !== '' || outcome !== '') return false;
  if (tool !== '' && call.tool !== tool) return false;
  if (process !== '' && call.process_id !== process) return false;
  if (min_attempts !== '' && call.attempts < Number(min_attempts)) return false;
  const { correlation_id, operation_id, account } = call;
  return (
    part === '' ||
    [call.tool, account, correlation_id, operation_id].some((text) => contains(text, part))
  );
}
