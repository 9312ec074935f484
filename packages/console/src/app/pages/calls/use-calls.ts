import { useEffect, useRef, useState } from 'preact/hooks';
import type { CallSummary, InFlightCall } from '../../../api/types.js';
import { api, type Failure } from '../../data/api.js';
import { mergeCalls } from '../../data/reduce.js';
import { live } from '../../data/stream.js';
import { matchesCall, matchesInFlight, type CallFilter } from './filter.js';

/** More rows than anybody scrolls through; the list stays smooth, and memory bounded. */
const MAX_ROWS = 100_000;
const PAGE = 200;

export interface CallList {
  /** Undefined: still loading. */
  readonly rows: readonly CallSummary[] | undefined;
  readonly inFlight: readonly InFlightCall[];
  readonly failure: Failure | undefined;
  readonly hasMore: boolean;
  readonly loadMore: () => void;
  readonly isFrozen: boolean;
  /** Calls that ended since the list was frozen. */
  readonly missed: number;
  readonly toggleFreeze: () => void;
}

interface Frozen {
  readonly seq: number;
  readonly inFlight: readonly InFlightCall[];
}

/** The list for a filter: pages from the server, and live calls on top unless it is frozen. */
export function useCalls(filter: CallFilter): CallList {
  const key = JSON.stringify(filter);
  const state = live.value;
  const generation = state?.generation ?? 0;
  const [rows, setRows] = useState<readonly CallSummary[] | undefined>(undefined);
  const [next, setNext] = useState<string | undefined>(undefined);
  const [failure, setFailure] = useState<Failure | undefined>(undefined);
  const [frozen, setFrozen] = useState<Frozen | undefined>(undefined);
  const isLoading = useRef(false);
  const currentKey = useRef(key);
  currentKey.current = key;

  const load = async (before: string | undefined): Promise<void> => {
    if (isLoading.current && before !== undefined) return;
    isLoading.current = true;
    const answer = await api.calls({ ...filter, limit: PAGE, before });
    isLoading.current = false;
    if (currentKey.current !== key) return;
    setFailure(answer.ok ? undefined : answer.failure);
    if (!answer.ok) return;
    setRows((known) => mergeCalls(known ?? [], answer.value.calls, MAX_ROWS));
    setNext(answer.value.next);
  };
  useEffect(() => {
    setRows(undefined);
    setNext(undefined);
    void load(undefined);
  }, [key]);
  useEffect(() => {
    // After a gap that events cannot fill, the newest page is loaded again.
    if (generation > 1) void load(undefined);
  }, [generation]);
  useEffect(() => {
    const fresh = (state?.calls ?? []).filter((call) => matchesCall(filter, call));
    setRows((known) => (known === undefined ? known : addNewer(known, fresh)));
  }, [state?.calls, rows === undefined]);

  const shown = rows && frozen ? rows.filter(({ seq }) => seq <= frozen.seq) : rows;
  const inFlight = (frozen?.inFlight ?? state?.inFlight ?? []).filter((call) =>
    matchesInFlight(filter, call),
  );
  return {
    rows: shown,
    inFlight,
    failure,
    hasMore: next !== undefined,
    loadMore: () => {
      if (next !== undefined && (rows?.length ?? 0) < MAX_ROWS) void load(next);
    },
    isFrozen: frozen !== undefined,
    missed: (rows?.length ?? 0) - (shown?.length ?? 0),
    toggleFreeze: () => {
      if (frozen) setFrozen(undefined);
      else setFrozen({ seq: rows?.[0]?.seq ?? 0, inFlight: state?.inFlight ?? [] });
    },
  };
}

/** Only calls that are newer than the list: its older end is paged by the server. */
function addNewer(
  known: readonly CallSummary[],
  ended: readonly CallSummary[],
): readonly CallSummary[] {
  const newest = known[0]?.seq ?? 0;
  const fresh = ended.filter(({ seq }) => seq > newest);
  return fresh.length === 0 ? known : mergeCalls(known, fresh, MAX_ROWS);
}
