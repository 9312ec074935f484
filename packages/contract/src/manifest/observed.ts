import { hostCodes } from '../codes/shared.js';
import type { ErrorCode } from '../codes/table.js';
import type { Manifest } from './build.js';

/** A code that a test got from a tool. */
export interface ObservedCode {
  readonly tool: string;
  readonly code: ErrorCode;
}

export interface ObservedCheck {
  /** Seen, but not in the tool's list (or the tool is not in the manifest): the list lies. */
  readonly unlisted: readonly ObservedCode[];
  /** In the list, but never seen: nobody knows that it can happen. Shared codes are left aside. */
  readonly unseen: readonly ObservedCode[];
}

/** Holds `possible_error_codes` against what tests really got, both ways. */
export function checkObservedCodes(
  manifest: Manifest,
  observed: Iterable<ObservedCode>,
): ObservedCheck {
  const seen = new Map<string, Set<ErrorCode>>();
  for (const { tool, code } of observed) {
    const ofTool = seen.get(tool) ?? new Set<ErrorCode>();
    seen.set(tool, ofTool.add(code));
  }
  const listed = new Map(manifest.tools.map((tool) => [tool.name, tool.possible_error_codes]));
  const unlisted = [...seen].flatMap(([tool, codes]) =>
    [...codes].filter((code) => !listed.get(tool)?.includes(code)).map((code) => ({ tool, code })),
  );
  const unseen = manifest.tools.flatMap(({ name: tool, effect, possible_error_codes: codes }) => {
    const shared = hostCodes(effect);
    return codes
      .filter((code) => !shared.includes(code) && !seen.get(tool)?.has(code))
      .map((code) => ({ tool, code }));
  });
  return { unlisted: unlisted.toSorted(byToolAndCode), unseen: unseen.toSorted(byToolAndCode) };
}

function byToolAndCode(a: ObservedCode, b: ObservedCode): number {
  const [left, right] = [`${a.tool} ${a.code}`, `${b.tool} ${b.code}`];
  return left < right ? -1 : Number(left > right);
}
