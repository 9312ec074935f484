/**
 * The cases in the order of the tables, with the file of this folder that defines them. Groups that only
 * explain the others are measured in fewer rounds.
 *
 * @type {readonly { title: string, file: string, cases: readonly string[], explains?: boolean }[]}
 */
export const groups = [
  { title: 'Noise', file: 'primitives', cases: ['bare'] },
  {
    title: 'Toolkeel',
    file: 'toolkeel',
    cases: [
      'composition',
      'signal-read',
      'parent-signal',
      'outcome',
      'observer',
      'resilience-stac',
    ],
  },
  {
    title: 'Others',
    file: 'libraries',
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
    file: 'toolkeel',
    explains: true,
    cases: ['layers-0', 'layers-1', 'layers-2', 'layers-3', 'layers-4'],
  },
  {
    title: 'For scale',
    file: 'primitives',
    explains: true,
    cases: ['async-frame', 'clock', 'timer', 'race', 'abort-controller', 'abort-timeout', 'abort'],
  },
];
