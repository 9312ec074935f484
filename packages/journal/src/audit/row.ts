/** One link of the audit chain. `hash` covers all other fields and `prev`. */
export interface AuditRow {
  readonly seq: number;
  readonly at: number;
  readonly kind: string;
  readonly operationId?: string;
  readonly tool?: string;
  readonly account?: string;
  readonly actor: string;
  /** JSON text, as it was hashed. */
  readonly detail: string;
  readonly prev: string;
  readonly hash: string;
  /** Why it cannot be read, where that is so; the readers go on behind it. */
  readonly malformed?: string;
}
