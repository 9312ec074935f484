import type { Arguments, CostEstimate, Tool } from '@toolkeel/contract';

/** What a call would cost; undefined where its tool does not say. An estimate never stops a call. */
export function estimatedCost(
  { estimateCost }: Pick<Tool, 'estimateCost'>,
  args: Arguments,
  report: (cause: unknown) => void,
): CostEstimate | undefined {
  try {
    return estimateCost?.(args);
  } catch (cause) {
    report(cause);
    return undefined;
  }
}
