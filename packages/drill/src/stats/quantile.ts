/** The values in order. */
export function sorted(values: Float64Array): Float64Array {
  return values.toSorted();
}

/** The value below which a share `q` lies, between neighbours by the line between them. */
export function quantileOf(inOrder: ArrayLike<number>, q: number): number {
  const place = q * (inOrder.length - 1);
  const below = Math.floor(place);
  const low = inOrder[below] ?? Number.NaN;
  const high = inOrder[Math.min(below + 1, inOrder.length - 1)] ?? Number.NaN;
  return low + (high - low) * (place - below);
}
