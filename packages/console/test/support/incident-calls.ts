import type { CallSummary, SeriesResponse } from '../../src/api/types.js';
import { TOOLS } from './incident-tools.js';

/** Ended calls, newest first; the same for the same arguments. */
export function calls(base: number, count: number, from = 1): CallSummary[] {
  return Array.from({ length: count }, (_, index) => {
    const at = count - index;
    const seq = from + at - 1;
    const [tool] = TOOLS[(seq * 3 + (seq % 5)) % TOOLS.length] ?? ['search_items'];
    const isX = tool.startsWith('x_');
    const isRecent = index < 60;
    const fails = (isX && isRecent && seq % 2 === 0) || seq % 23 === 0;
    const code = !fails ? 'ok' : isX ? 'circuit_open' : seq % 2 === 0 ? 'timeout' : 'not_found';
    const attempts = code === 'circuit_open' ? 0 : seq % 9 === 0 ? 3 : seq % 5 === 0 ? 2 : 1;
    const process = seq % 4 === 0 ? ['p2', 'toolkeel'] : ['p1', 'toolkeel'];
    return {
      seq,
      correlation_id: `01JC${(seq * 7919).toString(36).padStart(6, '0').toUpperCase()}K3M9`,
      tool,
      code,
      at: new Date(base - index * 1900 - (seq % 7) * 130).toISOString(),
      elapsed_ms: code === 'circuit_open' ? 2 : 40 + ((seq * 37) % 460) * attempts,
      attempts,
      waited_ms: attempts > 1 ? 320 * (attempts - 1) : 0,
      process_id: process[0] ?? '',
      process_name: process[1] ?? '',
      ...(fails && isX && { outcome: 'not_executed' as const }),
    };
  });
}

export function series(base: number): SeriesResponse {
  const minutes = Array.from({ length: 60 }, (_, at) =>
    new Date(Math.floor(base / 60_000) * 60_000 - (59 - at) * 60_000).toISOString(),
  );
  const of = (scale: number, slow: number, fails: boolean) => {
    const wave = (at: number): number => 1 + 0.35 * Math.sin(at / 5) + 0.15 * Math.sin(at * 1.7);
    const failing = (at: number): boolean => fails && at > 53;
    const each = minutes.map((_, at) => at);
    return {
      calls: each.map((at) => Math.round(scale * wave(at))),
      success_ratio: each.map((at) => (failing(at) ? 0.08 : at % 17 === 3 ? 0.94 : 1)),
      p50_ms: each.map((at) => Math.round(slow * wave(at + 3))),
      p95_ms: each.map((at) => Math.round(slow * 2.6 * wave(at + 1) * (failing(at) ? 1.8 : 1))),
    };
  };
  const row = (
    tool: string,
    calls: number,
    ratio: number,
    p50: number,
    codes: [string, number][],
    fails = false,
  ) => ({
    tool,
    ...of(calls / 60, p50, fails),
    total: {
      calls,
      success_ratio: ratio,
      p50_ms: p50,
      p95_ms: p50 * 2.7,
      codes: codes.map(([code, count]) => ({ code, calls: count })),
    },
  });
  const { tool: _tool, ...all } = row(
    'all',
    1846,
    0.953,
    148,
    [
      ['circuit_open', 64],
      ['timeout', 16],
    ],
    true,
  );
  return {
    minutes,
    all,
    tools: [
      row('search_items', 1102, 0.998, 182, [['timeout', 2]]),
      row('github_list_issues', 391, 0.964, 240, [['timeout', 14]]),
      row('x_search_tweets', 204, 0.74, 95, [['circuit_open', 53]], true),
      row('get_item', 118, 1, 64, []),
      row(
        'x_post_tweet',
        31,
        0.58,
        310,
        [
          ['circuit_open', 11],
          ['outcome_unknown', 2],
        ],
        true,
      ),
    ],
  };
}
