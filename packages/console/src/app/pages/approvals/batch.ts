import type { ApprovalSummary, Arguments } from '../../../api/types.js';

export interface BatchGroup {
  readonly items: readonly ApprovalSummary[];
  /** Why the selected items cannot be decided together. */
  readonly refusal?: string;
}

/** A batch is within one tool and one rule: different acts are decided one by one. */
export function batchGroup(
  approvals: readonly ApprovalSummary[],
  selected: readonly string[],
): BatchGroup {
  const items = approvals.filter(({ id }) => selected.includes(id));
  const [first] = items;
  const isOther = ({ tool, rule }: ApprovalSummary): boolean =>
    tool !== first?.tool || rule !== first.rule;
  return items.some(isOther)
    ? { items, refusal: 'A batch must be of one tool and one rule.' }
    : { items };
}

/** The arguments that all items share, and those that differ. */
export function compareArguments(items: readonly { readonly arguments?: Arguments }[]): {
  readonly same: Arguments;
  readonly different: readonly string[];
} {
  const all = items.map((item) => item.arguments ?? {});
  const names = [...new Set(all.flatMap((args) => Object.keys(args)))];
  const texts = (name: string): Set<string> =>
    new Set(all.map((args) => JSON.stringify(args[name]) ?? ''));
  const different = names.filter((name) => texts(name).size > 1);
  const same = names.filter((name) => !different.includes(name));
  return { same: Object.fromEntries(same.map((name) => [name, all[0]?.[name]])), different };
}
