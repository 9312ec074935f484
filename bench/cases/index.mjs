/**
 * The cases in the order of the tables, by the names of their files. What only explains the others is measured
 * in fewer rounds.
 *
 * @type {readonly { title: string, cases: readonly string[], explains?: boolean }[]}
 */
export const groups = [
  { title: 'Noise', cases: ['bare'] },
  {
    title: 'Toolkeel',
    cases: ['composition', 'signal-read', 'parent-signal', 'outcome', 'observer', 'guard-stac'],
  },
  {
    title: 'Others',
    cases: [
      'cockatiel',
      'cockatiel-no-abort',
      'opossum',
      'p-retry',
      'effect',
      'smithy',
      'hand-loop',
      'hand-loop-timeout',
    ],
  },
  {
    title: 'Toolkeel, layer by layer',
    explains: true,
    cases: ['layers-0', 'layers-1', 'layers-2', 'layers-3', 'layers-4'],
  },
  {
    title: 'For scale',
    explains: true,
    cases: ['async-frame', 'clock', 'timer', 'race', 'abort-controller', 'abort-timeout', 'abort'],
  },
];
