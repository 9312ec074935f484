/** How large a table, and which luck. */
export interface PlanOptions {
  readonly seed: number;
  /** Calls of a cell; scenarios are in proportion. */
  readonly calls: number;
}
