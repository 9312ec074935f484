import type { Scope } from './world.fixture.js';

export const WHOLE: Scope = {
  mode: 'mixed',
  approvals: false,
  equal: { text: true, account: true },
};
/** One kind of failure alone, so that the shortest sequence is about nothing else. */
const only = (events: readonly string[], more: Partial<Scope>): Scope => ({
  ...WHOLE,
  mode: 'explicit',
  equal: { text: false, account: false },
  halts: [],
  answers: ['commits'],
  isDelivered: true,
  events: new Set(events),
  ...more,
});
const unknown: Partial<Scope> = { answers: ['commits', 'loses the answer'] };

/** What each item of the issue is found with, and at which depth on the code before its fix. */
export const ITEMS: Readonly<Record<string, { readonly scope: Scope; readonly depth: number }>> = {
  '1a. A handler that marks nothing fails after it sent': {
    scope: only(['call keyless'], { mode: 'automatic', ...unknown }),
    depth: 2,
  },
  '1b. A handler that marks nothing is killed after it sent': {
    scope: only(['call keyless'], { mode: 'automatic', halts: ['killed'] }),
    depth: 2,
  },
  '2a. Reconciled by upkeep and never delivered': {
    scope: only(['call keyless', 'upkeep', 'window'], unknown),
    depth: 4,
  },
  '2b. Killed after the commit, and never delivered': {
    scope: only(['call keyless', 'lease', 'window'], { halts: ['killed'] }),
    depth: 4,
  },
  '2c. Resolved by the operator and never delivered': {
    scope: only(['call keyless', 'resolve', 'window'], unknown),
    depth: 4,
  },
  '2d. Approved, executed and never delivered': {
    scope: only(['call keyless', 'approve', 'window'], { approvals: true }),
    depth: 4,
  },
  '2e. An answer that is lost on the way to the agent': {
    scope: only(['call keyless', 'window'], { isDelivered: false }),
    depth: 3,
  },
  '3a. Unknown without a key, then called with one': {
    scope: only(['call keyless', 'call key A'], unknown),
    depth: 2,
  },
  '3b. Unknown, then called after a template was configured': {
    scope: only(['call keyless', 'template'], unknown),
    depth: 3,
  },
  '3c. Unknown under a template, then called after it was removed': {
    scope: only(['call keyless', 'template'], { ...unknown, template: true }),
    depth: 3,
  },
  '4a. Two configured names for one user': {
    scope: only(['call keyless', 'call equal'], { equal: { text: false, account: true } }),
    depth: 2,
  },
  '4b. Two configured names for one user, with the same key': {
    scope: only(['call key A', 'call equal key A'], { equal: { text: false, account: true } }),
    depth: 2,
  },
  '5. Arguments that are equal for the upstream': {
    scope: only(['call keyless', 'call equal'], { equal: { text: true, account: false } }),
    depth: 2,
  },
};

/** What the explorer found beside these, and what is done about it since. */
export const FINDINGS: typeof ITEMS = {
  'A duplicate is executed, and a result that was not delivered is not replayed any more': {
    scope: only(['call keyless', 'call duplicate', 'window'], { isDelivered: false }),
    depth: 4,
  },
  'A duplicate is executed and undone, and the first result is not replayed any more': {
    scope: only(['call keyless', 'call duplicate', 'erase'], {}),
    depth: 4,
  },
  'A duplicate beside an unknown operation does not hold the key of the template': {
    scope: only(['call keyless', 'call duplicate', 'window', 'resolve'], {
      answers: ['commits', 'loses the request'],
      template: true,
    }),
    depth: 5,
  },
  'A key is bound and the arguments are edited, and the same request asks for another approval': {
    scope: only(['call keyless', 'call key A', 'edit', 'approve'], { approvals: true }),
    depth: 5,
  },
  'A key is bound to a duplicate and its arguments are edited, and the same request asks for another approval':
    {
      scope: only(['call keyless', 'call duplicate', 'call key A', 'edit', 'approve'], {
        approvals: true,
        halts: ['killed'],
      }),
      depth: 6,
    },
  'A caller is stalled until the result that it waits for is not held any more, and asks for another approval':
    {
      scope: only(['call keyless', 'approve', 'lease', 'hold', 'resume'], {
        approvals: true,
        halts: ['killed', 'stalled'],
      }),
      depth: 6,
    },
};
