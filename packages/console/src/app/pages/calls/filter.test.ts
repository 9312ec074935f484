import { expect, test } from 'vitest';
import type { CallSummary, InFlightCall } from '../../../api/types.js';
import { filterFrom, isFiltered, matchesCall, matchesInFlight } from './filter.js';

const call: CallSummary = {
  seq: 1,
  correlation_id: 'Corr-1',
  tool: 'x_post_tweet',
  code: 'circuit_open',
  outcome: 'not_executed',
  account: 'x:1',
  at: '',
  elapsed_ms: 1,
  attempts: 2,
  waited_ms: 0,
  operation_id: 'op_9',
  process_id: 'p1',
};
const by = (text: string): boolean => matchesCall(filterFrom(new URLSearchParams(text)), call);

test('a call matches by every filter of the address', () => {
  const yes = [
    '',
    'q=corr',
    'q=OP_9',
    'q=x:1',
    'tool=x_post_tweet',
    'code=failed',
    'code=ok,circuit_open',
  ];
  expect(yes.filter((text) => !by(text))).toEqual([]);
  const more = ['outcome=not_executed', 'process=p1', 'min_attempts=2', 'unknown=1'];
  expect(more.filter((text) => !by(text))).toEqual([]);
});

test('a call does not match another value', () => {
  const no = [
    'q=other',
    'tool=x_post',
    'code=ok',
    'outcome=unknown',
    'process=p2',
    'min_attempts=3',
  ];
  expect(no.filter(by)).toEqual([]);
});

test('a call in flight has no code, so a filter for one hides it', () => {
  const flying: InFlightCall = {
    correlation_id: 'c',
    tool: 'x_post_tweet',
    process_id: 'p1',
    process_name: 'toolkeel',
    at: '',
    deadline_at: '',
    attempts: 1,
    at_upstream: 1,
    state: 'running',
  };
  const matches = (text: string): boolean =>
    matchesInFlight(filterFrom(new URLSearchParams(text)), flying);
  expect(matches('tool=x_post_tweet&q=POST')).toBe(true);
  expect(['code=ok', 'outcome=unknown', 'min_attempts=2', 'q=zzz'].filter(matches)).toEqual([]);
});

test('only known parameters are filters', () => {
  expect(isFiltered(filterFrom(new URLSearchParams('edit=1')))).toBe(false);
  expect(isFiltered(filterFrom(new URLSearchParams('since=1h')))).toBe(true);
});
