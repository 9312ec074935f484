import type {
  CallResponse,
  CallsResponse,
  ProcessesResponse,
  SeriesResponse,
} from '@toolkeel/console';
import type { CallFilter, StoredCall } from '@toolkeel/journal';
import type { RouteDeps, Routes } from '../api.js';
import { envelopeOf, storedCalls, timelineInFlight, timelineOf } from '../call-view.js';
import { invalid, notFound } from '../errors.js';
import { iso } from '../process-view.js';
import { limitOf, timeOf, wholeNumber, type Query } from '../request.js';

const OUTCOMES: readonly string[] = ['executed', 'not_executed', 'unknown'];
const MAX_TEXT = 200;

/** Processes, calls and their metrics. */
export function callRoutes({ live, journal }: RouteDeps): Routes {
  return {
    get: {
      '/processes': async (): Promise<ProcessesResponse> => {
        await live.refresh();
        const { processId } = await journal();
        return { at: iso(live.now), processes: live.processViews(processId) };
      },
      '/metrics/series': async ({ req }): Promise<SeriesResponse> => {
        await live.refresh();
        return live.series.read(live.now, req.query('tool'));
      },
      '/calls': async ({ req }): Promise<CallsResponse> => {
        const query = req.query();
        const filter = callFilter(query);
        const limit = limitOf(query, 100);
        const { store } = await journal();
        await live.refresh();
        const calls = await storedCalls(store, { ...filter, limit: limit + 1 });
        const page = calls.slice(0, limit);
        const last = page.at(-1);
        return {
          calls: live.callViews(page),
          ...(calls.length > limit && last && { next: String(last.seq) }),
          in_flight: live.inFlight().filter((call) => isWanted(call, filter)),
        };
      },
      '/calls/:id': async ({ req }): Promise<CallResponse> => {
        const id = req.param('id') ?? '';
        await live.refresh();
        const { store, operations } = await journal();
        const by = /^\d{1,15}$/.test(id) ? { seq: Number(id) } : { correlationId: id };
        const [call] = await store.calls({ ...by, details: true, limit: 1 });
        if (!call) return inFlight(id);
        const { operationId } = call;
        const operation =
          operationId === undefined ? undefined : await operations.show(operationId);
        const timeline = timelineOf(call, live.processes, operation);
        return {
          call: live.callViews([call])[0]!,
          timeline,
          envelope: envelopeOf(call, operation),
          ...(operation && { operation }),
          related: live.callViews(await related(call)),
        };
      },
    },
  };

  async function related(call: StoredCall): Promise<readonly StoredCall[]> {
    const { store } = await journal();
    const { correlationId, operationId } = call;
    const found = [
      ...(await storedCalls(store, { correlationId, limit: 20 })),
      ...(operationId === undefined ? [] : await storedCalls(store, { operationId, limit: 20 })),
    ];
    const others = new Map(found.map((other) => [other.seq, other]));
    others.delete(call.seq);
    return [...others.values()].toSorted((one, other) => other.seq - one.seq);
  }

  function inFlight(correlationId: string): CallResponse {
    const view = live.inFlight().find((call) => call.correlation_id === correlationId);
    const process = live.processes.find(({ id }) => id === view?.process_id);
    const reported = process?.activity.inFlight.find(
      (call) => call.correlationId === correlationId,
    );
    if (!view || !reported) {
      throw notFound('call', 'The oldest calls are deleted. List calls: GET /api/calls.');
    }
    const until = process?.state === 'lost' ? process.reportedAt : live.now;
    return {
      in_flight: view,
      timeline: timelineInFlight(reported, process, until),
      related: [],
    };
  }
}

type Shown = ReturnType<RouteDeps['live']['inFlight']>[number];

/** Filters that only calls that ended can match exclude those in flight. */
function isWanted(call: Shown, filter: CallFilter): boolean {
  const {
    tool,
    process,
    correlationId,
    codes,
    failed,
    outcome,
    operationId,
    minAttempts = 0,
    text,
  } = filter;
  if (codes || failed || outcome || operationId !== undefined) return false;
  if (tool !== undefined && tool !== call.tool) return false;
  if (process !== undefined && process !== call.process_id) return false;
  if (correlationId !== undefined && correlationId !== call.correlation_id) return false;
  if (call.attempts < minAttempts) return false;
  if (text === undefined) return true;
  const searched = [call.tool, call.account ?? '', call.correlation_id].join(' ').toLowerCase();
  return searched.includes(text.toLowerCase());
}

function callFilter(query: Query): CallFilter {
  const { q, tool, code, outcome, process, operation, correlation } = query;
  const [since, until] = [timeOf(query, 'since'), timeOf(query, 'until')];
  const before = wholeNumber(query, 'before');
  const minAttempts = wholeNumber(query, 'min_attempts');
  const minElapsedMs = wholeNumber(query, 'min_elapsed_ms');
  if (outcome !== undefined && !OUTCOMES.includes(outcome)) {
    throw invalid(`outcome must be one of ${OUTCOMES.join(', ')}`);
  }
  if (q !== undefined && q.length > MAX_TEXT)
    throw invalid(`q has more than ${MAX_TEXT} characters`);
  return {
    ...(q !== undefined && q !== '' && { text: q }),
    ...(tool !== undefined && { tool }),
    ...(code === 'failed'
      ? { failed: true as const }
      : code !== undefined && { codes: code.split(',') }),
    ...(outcome !== undefined && { outcome: outcome as NonNullable<CallFilter['outcome']> }),
    ...(process !== undefined && { process }),
    ...(operation !== undefined && { operationId: operation }),
    ...(correlation !== undefined && { correlationId: correlation }),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
    ...(before !== undefined && { before }),
    ...(minAttempts !== undefined && { minAttempts }),
    ...(minElapsedMs !== undefined && { minElapsedMs }),
  };
}
