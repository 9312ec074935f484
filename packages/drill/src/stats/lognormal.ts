/** Latencies as upstreams have them: most near the median, a tail to the right. */
export interface Lognormal {
  readonly p95Ms: number;
  /** The standard deviation of the logarithm. */
  readonly sigma: number;
}

/** How many standard deviations the 95th percentile of a normal distribution lies above its mean. */
const Z95 = 1.6448536269514722;

/** The value below which a share `u` of the distribution lies. */
export function lognormalQuantile({ p95Ms, sigma }: Lognormal, u: number): number {
  return p95Ms * Math.exp(sigma * (normalQuantile(u) - Z95));
}

/**
 * The inverse of the normal distribution function, by P. J. Acklam's rational approximation:
 * relative error below 1.2e-9, which is finer than the draws that are put into it.
 */
export function normalQuantile(u: number): number {
  if (u < LOW) return tail(Math.sqrt(-2 * Math.log(u)));
  if (u > 1 - LOW) return -tail(Math.sqrt(-2 * Math.log(1 - u)));
  const q = u - 0.5;
  const r = q * q;
  return (
    ((((((A[0] * r + A[1]) * r + A[2]) * r + A[3]) * r + A[4]) * r + A[5]) * q) /
    (((((B[0] * r + B[1]) * r + B[2]) * r + B[3]) * r + B[4]) * r + 1)
  );
}

function tail(q: number): number {
  return (
    (((((C[0] * q + C[1]) * q + C[2]) * q + C[3]) * q + C[4]) * q + C[5]) /
    ((((D[0] * q + D[1]) * q + D[2]) * q + D[3]) * q + 1)
  );
}

const LOW = 0.02425;
const A = [
  -39.69683028665376, 220.9460984245205, -275.9285104469687, 138.357751867269, -30.66479806614716,
  2.506628277459239,
] as const;
const B = [
  -54.47609879822406, 161.5858368580409, -155.6989798598866, 66.80131188771972, -13.28068155288572,
] as const;
const C = [
  -0.007784894002430293, -0.3223964580411365, -2.400758277161838, -2.549732539343734,
  4.374664141464968, 2.938163982698783,
] as const;
const D = [0.007784695709041462, 0.3224671290700398, 2.445134137142996, 3.754408661907416] as const;
