import type {
  ActRequest,
  ActResponse,
  Action,
  ApprovalResponse,
  ApprovalsResponse,
  AuditRowsResponse,
  AuditStatus,
  CallResponse,
  CallsResponse,
  ErrorResponse,
  ExplainRequest,
  ExplainResponse,
  OperationResponse,
  OperationsResponse,
  PolicyResponse,
  Preview,
  ReplayRequest,
  ReplayResponse,
  SeriesResponse,
  SessionResponse,
  SignInRequest,
  SnapshotResponse,
  ToolsResponse,
  TryResponse,
} from '../../api/types.js';

/** Why a request failed. `unreachable`: no response. */
export interface Failure {
  readonly code: ErrorResponse['error']['code'] | 'unreachable';
  readonly message: string;
  readonly whatToDo: string;
  readonly body?: ErrorResponse;
}

export type Answer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: Failure };

/** Longer than any route needs: a read-back asks the upstream. */
const TIMEOUT_MS = 60_000;

export type SignedOut = () => void;
let onSignedOut: SignedOut = () => {};

/** Called whenever the server says that there is no session. */
export function whenSignedOut(callback: SignedOut): void {
  onSignedOut = callback;
}

async function request<T>(path: string, body?: unknown): Promise<Answer<T>> {
  const init: RequestInit = {
    signal: AbortSignal.timeout(TIMEOUT_MS),
    ...(body !== undefined && {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  };
  try {
    const response = await fetch(path, init);
    const answer = (await response.json()) as unknown;
    if (response.ok) return { ok: true, value: answer as T };
    const failure = failureOf(answer as Partial<ErrorResponse> | null);
    if (failure.code === 'signed_out') onSignedOut();
    return { ok: false, failure };
  } catch {
    return { ok: false, failure: UNREACHABLE };
  }
}

const UNREACHABLE: Failure = {
  code: 'unreachable',
  message: 'The server did not respond.',
  whatToDo: 'Check that it is running. Nothing is known about what you just requested.',
};

function failureOf(body: Partial<ErrorResponse> | null): Failure {
  const error = body?.error;
  if (!error) return { ...UNREACHABLE, message: 'The response is not one of this server.' };
  const { code, message, what_to_do: whatToDo } = error;
  return { code, message, whatToDo, body: { ...body, error } };
}

type Query = Readonly<Record<string, string | number | undefined>>;

/** A path with the parameters that are set. */
export function withParameters(path: string, query: Query): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
}

const get = <T>(path: string, query: Query = {}): Promise<Answer<T>> =>
  request<T>(withParameters(path, query));

const one = encodeURIComponent;

/** The public API: everything that the console shows and does. */
export const api = {
  session: () => get<SessionResponse>('/api/session'),
  signIn: (body: SignInRequest) => request<SessionResponse>('/api/session', body),
  signOut: () => request<unknown>('/api/session/end', {}),
  snapshot: () => get<SnapshotResponse>('/api/snapshot'),
  series: () => get<SeriesResponse>('/api/metrics/series'),
  calls: (query: Query) => get<CallsResponse>('/api/calls', query),
  call: (id: string) => get<CallResponse>(`/api/calls/${one(id)}`),
  operations: (query: Query) => get<OperationsResponse>('/api/operations', query),
  operation: (id: string) => get<OperationResponse>(`/api/operations/${one(id)}`),
  approvals: () => get<ApprovalsResponse>('/api/approvals'),
  approval: (id: string) => get<ApprovalResponse>(`/api/approvals/${one(id)}`),
  preview: (body: Action) => request<Preview>('/api/preview', body),
  act: (body: ActRequest) => request<ActResponse>('/api/actions', body),
  tools: () => get<ToolsResponse>('/api/tools'),
  tryTool: (name: string, args: Readonly<Record<string, unknown>>) =>
    request<TryResponse>(`/api/tools/${one(name)}/try`, { arguments: args }),
  policy: () => get<PolicyResponse>('/api/policy'),
  explain: (body: ExplainRequest) => request<ExplainResponse>('/api/policy/explain', body),
  replay: (body: ReplayRequest) => request<ReplayResponse>('/api/policy/replay', body),
  auditRows: (query: Query) => get<AuditRowsResponse>('/api/audit/rows', query),
  verify: (expect: string) =>
    request<AuditStatus>('/api/audit/verify', expect === '' ? {} : { expect }),
} as const;
