/** `+4.7 %` for a ratio of 1.047. From +1000 % on without a decimal. */
export function change(ratio: number): string {
  const percent = (ratio - 1) * 100;
  return `${signed(percent, Math.abs(percent) < 999.95 ? 1 : 0)} %`;
}

export function signed(value: number, digits = 1): string {
  const text = Math.abs(value).toFixed(digits);
  const sign = Number(text) === 0 ? '±' : value > 0 ? '+' : '−';
  return `${sign}${text}`;
}

export function percent(share: number, digits = 1): string {
  return `${(share * 100).toFixed(digits)} %`;
}

/** `1.24×` */
export function times(load: number, digits = 2): string {
  return `${load.toFixed(digits)}×`;
}

/** Milliseconds as a person would say them. */
export function duration(ms: number): string {
  if (ms === 0) return '0 s';
  if (ms < 10 && !Number.isInteger(ms)) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${ms.toFixed(0)} ms`;
  const digits = ms % 1000 === 0 || ms >= 100_000 ? 0 : 1;
  return `${(ms / 1000).toFixed(digits)} s`;
}
