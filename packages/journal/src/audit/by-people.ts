/** Who finds out by looking at the upstream. No person has that name. */
export const READ_BACK = 'read-back';

/** Rows that a person's word has made, unless their actor is READ_BACK. */
export const PEOPLES_KINDS = ['approval_decided', 'reconciled', 'step_resolved'] as const;
