import type { SearchSpace } from './world.fixture.js';

export const ALL: SearchSpace = {
  mode: 'mixed',
  approvals: false,
  equal: { text: true, account: true },
};
/** One kind of failure only, so that the shortest sequence shows nothing else. */
const only = (events: readonly string[], more: Partial<SearchSpace>): SearchSpace => ({
  ...ALL,
  mode: 'explicit',
  equal: { text: false, account: false },
  halts: [],
  answers: ['commits'],
  isDelivered: true,
  events: new Set(events),
  ...more,
});
const unknown: Partial<SearchSpace> = { answers: ['commits', 'loses the answer'] };

/** Fixed defects: the search space and the depth at which the explorer found each before its fix. */
export const DEFECTS: Readonly<
  Record<string, { readonly space: SearchSpace; readonly depth: number }>
> = {
  '1a. A handler that does not record its send fails after it': {
    space: only(['call keyless'], { mode: 'automatic', ...unknown }),
    depth: 2,
  },
  '1b. A handler that does not record its send is killed after it': {
    space: only(['call keyless'], { mode: 'automatic', halts: ['killed'] }),
    depth: 2,
  },
  '2a. Reconciled in the background and never delivered': {
    space: only(['call keyless', 'maintenance', 'window'], unknown),
    depth: 4,
  },
  '2b. Killed after the commit, and never delivered': {
    space: only(['call keyless', 'lease', 'window'], { halts: ['killed'] }),
    depth: 4,
  },
  '2c. Resolved by the operator and never delivered': {
    space: only(['call keyless', 'resolve', 'window'], unknown),
    depth: 4,
  },
  '2d. Approved, executed and never delivered': {
    space: only(['call keyless', 'approve', 'window'], { approvals: true }),
    depth: 4,
  },
  '2e. An answer lost on the way to the agent': {
    space: only(['call keyless', 'window'], { isDelivered: false }),
    depth: 3,
  },
  '3a. Unknown without a key, then called with one': {
    space: only(['call keyless', 'call key A'], unknown),
    depth: 2,
  },
  '3b. Unknown, then called after a template was configured': {
    space: only(['call keyless', 'template'], unknown),
    depth: 3,
  },
  '3c. Unknown under a template, then called after it was removed': {
    space: only(['call keyless', 'template'], { ...unknown, template: true }),
    depth: 3,
  },
  '4a. Two configured names for one user': {
    space: only(['call keyless', 'call equal'], { equal: { text: false, account: true } }),
    depth: 2,
  },
  '4b. Two configured names for one user, with the same key': {
    space: only(['call key A', 'call equal key A'], { equal: { text: false, account: true } }),
    depth: 2,
  },
  '5. Arguments that the upstream treats as equal': {
    space: only(['call keyless', 'call equal'], { equal: { text: true, account: false } }),
    depth: 2,
  },
};

/** Further defects that the explorer itself discovered. */
export const FINDINGS: typeof DEFECTS = {
  'A duplicate is executed, and an undelivered result is no longer replayed': {
    space: only(['call keyless', 'call duplicate', 'window'], { isDelivered: false }),
    depth: 4,
  },
  'A duplicate is executed and compensated, and the first result is no longer replayed': {
    space: only(['call keyless', 'call duplicate', 'erase'], {}),
    depth: 4,
  },
  'A duplicate under a template is compensated, and the first result is no longer replayed': {
    space: only(['call keyless', 'call duplicate', 'erase', 'window'], { template: true }),
    depth: 5,
  },
  'An approved duplicate under a template is compensated, and the act needs another approval': {
    space: only(['call keyless', 'call duplicate', 'approve', 'erase', 'hold'], {
      approvals: true,
      template: true,
    }),
    depth: 7,
  },
  'A duplicate of an unknown operation does not hold the template key': {
    space: only(['call keyless', 'call duplicate', 'window', 'resolve'], {
      answers: ['commits', 'loses the request'],
      template: true,
    }),
    depth: 5,
  },
  'A key is bound, the arguments are edited, and the same request needs another approval': {
    space: only(['call keyless', 'call key A', 'edit', 'approve'], { approvals: true }),
    depth: 5,
  },
  'A key is bound to a duplicate, its arguments are edited, and the same request needs another approval':
    {
      space: only(['call keyless', 'call duplicate', 'call key A', 'edit', 'approve'], {
        approvals: true,
        halts: ['killed'],
      }),
      depth: 6,
    },
  'A caller is stalled until the awaited result is no longer held, and needs another approval': {
    space: only(['call keyless', 'approve', 'lease', 'hold', 'resume'], {
      approvals: true,
      halts: ['killed', 'stalled'],
    }),
    depth: 6,
  },
};
