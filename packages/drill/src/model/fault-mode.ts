/** How long a failing request takes, as a share of what its answer would have taken. */
export const faultModes = {
  none: { title: 'no faults', rate: 0, share: 1, hangs: 0 },
  fast: { title: 'fast: a fault takes 0.1× an answer', rate: 0.2, share: 0.1, hangs: 0 },
  half: { title: 'half: a fault takes half an answer', rate: 0.2, share: 0.5, hangs: 0 },
  same: { title: 'same: a fault takes as long as an answer', rate: 0.2, share: 1, hangs: 0 },
  mix: { title: 'mix: one fault in five is a timeout', rate: 0.2, share: 0.1, hangs: 0.2 },
} as const satisfies Record<string, FaultMode>;

export type FaultModeName = keyof typeof faultModes;

export interface FaultMode {
  readonly title: string;
  /** The share of requests that fail, each drawn on its own. */
  readonly rate: number;
  readonly share: number;
  /** The share of faults that send no byte at all: somebody's clock has to end them. */
  readonly hangs: number;
}
