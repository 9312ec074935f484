/** The upstream of the scenarios in which its speed is not what is looked at. */
export const usualLatency = { p95Ms: 200, sigma: 0.5 } as const;
