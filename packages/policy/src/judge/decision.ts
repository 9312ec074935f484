/** How much may be sent; claimed where operations are kept, right before the send. */
export interface Limit {
  /** Who counts together. */
  readonly name: string;
  readonly max: number;
  readonly windowMs: number;
}

export type DenialCode =
  | 'policy_denied_blocked'
  | 'policy_denied_hard_rule'
  | 'policy_denied_user_rule';

/** What is to be done with a call. Explanations name arguments, and never hold their values. */
export type Decision =
  /** `rule`: the one that allowed it, of the user or of the template. */
  | { readonly kind: 'allow'; readonly rule: string; readonly limits: readonly Limit[] }
  | {
      readonly kind: 'deny';
      readonly code: DenialCode;
      readonly rule: string;
      readonly explanation: string;
    }
  | {
      readonly kind: 'approve';
      readonly rule: string;
      readonly explanation: string;
      readonly expiresInMs: number;
    }
  | { readonly kind: 'dry_run'; readonly rule: string; readonly explanation: string };
