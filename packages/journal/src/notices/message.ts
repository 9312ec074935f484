/** What somebody outside is told. Never an argument or an answer: those may hold anything. */
export interface NotificationMessage {
  readonly kind: 'approval_requested' | 'operation_unknown';
  readonly operation_id: string;
  readonly tool: string;
  readonly account: string;
  readonly at: string;
  /** Of an approval: which rule asks for it, and until when it can be given. */
  readonly rule?: string;
  readonly expires_at?: string;
  /** The end of the audit chain, to be kept where nobody can change it. */
  readonly audit_head?: { readonly seq: number; readonly hash: string };
}

/** Tells somebody. Rejects when that failed: it is tried again later. */
export type Notifier = (message: NotificationMessage) => Promise<void>;
