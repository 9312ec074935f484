/** As X writes times: to the second, with milliseconds that are always zero. */
export function instant(ms: number): string {
  return new Date(Math.floor(ms / 1000) * 1000).toISOString();
}
