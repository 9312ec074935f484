/** The drill cannot go on, and its message says why. */
export class DrillError extends Error {}
