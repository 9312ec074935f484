/** GET /api/audit */
export interface AuditStatus {
  readonly head: AuditPosition | null;
  /** The chain is verified up to here; `at`: when. Null: not yet. */
  readonly verified: (AuditPosition & { readonly at: string }) | null;
  /** `verifying`: behind the head. `invalid`: see `problems`. */
  readonly state: 'verifying' | 'valid' | 'invalid';
  readonly problem_count: number;
  /** The first 100. */
  readonly problems: readonly {
    readonly kind: 'altered' | 'missing' | 'reordered' | 'cut_off' | 'malformed';
    readonly seq: number;
    readonly message: string;
  }[];
  /** What a head stored outside would add, as sentences. */
  readonly anchor: string;
}

export interface AuditPosition {
  readonly seq: number;
  readonly hash: string;
}

/** GET /api/audit/rows?before=SEQ&limit=…: newest first. */
export interface AuditRowsResponse {
  readonly rows: readonly AuditRow[];
  readonly next?: number;
}

export interface AuditRow {
  readonly seq: number;
  readonly at: string;
  readonly kind: string;
  readonly operation_id?: string;
  readonly tool?: string;
  readonly account?: string;
  readonly actor: string;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly hash: string;
  readonly malformed?: string;
}

/** POST /api/audit/verify: verifies the whole chain now, against a stored head if given. */
export interface VerifyRequest {
  /** `SEQ:HASH`, as `toolkeel audit head` prints it. */
  readonly expect?: string;
}
export type VerifyResponse = AuditStatus;

/** GET /api/audit/export?format=jsonl|csv&since=…&until=…: a file (`content-disposition: attachment`). */
export type AuditExport = string;
