import type { ActionName } from '../../api/types.js';

interface Label {
  /** On the button that opens the preview. */
  readonly name: string;
  /** On the button that executes it. */
  readonly confirm: string;
  /** The same, while something stops the execution. */
  readonly confirmStopped?: string;
  /** On the same button while it is executed. */
  readonly busy?: string;
  /** Beside other choices. */
  readonly choice?: string;
  readonly title: string;
  readonly danger?: true;
}

export const LABELS: Readonly<Record<ActionName, Label>> = {
  approve: {
    name: 'Approve',
    confirm: 'Approve and execute',
    confirmStopped: 'Approve for later',
    title: 'Approve this?',
  },
  edit: { name: 'Save the edit', confirm: 'Save the edit', title: 'Save this edit?' },
  edit_and_approve: {
    name: 'Edit and approve',
    confirm: 'Approve the edited call',
    title: 'Approve the edited call?',
  },
  reject: { name: 'Reject', confirm: 'Reject', title: 'Reject this?', danger: true },
  withdraw: {
    name: 'Withdraw the approval',
    confirm: 'Withdraw',
    title: 'Withdraw the approval?',
    danger: true,
  },
  check_upstream: {
    name: 'Check the upstream now',
    choice: 'Check now',
    confirm: 'Check now',
    busy: 'Checking …',
    title: 'Did this happen?',
  },
  it_happened: {
    name: 'It happened',
    confirm: 'Record that it happened',
    title: 'Did this happen?',
  },
  it_did_not_happen: {
    name: 'It did not happen',
    confirm: 'Record that it did not happen',
    title: 'Did this happen?',
    danger: true,
  },
};

/** The three ways to settle an operation with an unknown outcome. */
export const SETTLING: readonly ActionName[] = [
  'check_upstream',
  'it_happened',
  'it_did_not_happen',
];

/** What an action needs to know before its preview is meaningful. */
export const NEEDS: Readonly<Partial<Record<ActionName, 'reason' | 'required reason' | 'result'>>> =
  {
    reject: 'reason',
    withdraw: 'reason',
    it_did_not_happen: 'required reason',
    it_happened: 'result',
  };
