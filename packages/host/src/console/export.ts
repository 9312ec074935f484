import type { OperationFilter, OperationView } from '@toolkeel/journal';
import type { OperatorJournal } from '../governance/operator.js';

const PAGE = 500;

const COLUMNS = [
  'id',
  'tool',
  'account',
  'effect',
  'state',
  'outcome',
  'code',
  'key',
  'correlation_id',
  'created_at',
  'sending_at',
  'settled_at',
  'delivered_at',
] as const satisfies readonly (keyof OperationView)[];

/** Operations as lines, oldest first. Sensitive arguments are masked; CSV has no arguments. */
export async function* exportOperations(
  { operations }: Pick<OperatorJournal, 'operations'>,
  filter: OperationFilter,
  format: 'jsonl' | 'csv',
): AsyncGenerator<string> {
  const { csvCell } = await import('@toolkeel/journal');
  if (format === 'csv') yield `${COLUMNS.join(',')}\r\n`;
  let before: string | undefined;
  for (;;) {
    const page = await operations.list({
      ...filter,
      order: 'oldest',
      limit: PAGE,
      ...(before !== undefined && { before }),
    });
    for (const operation of page) {
      yield format === 'csv'
        ? `${COLUMNS.map((column) => csvCell(operation[column] ?? '')).join(',')}\r\n`
        : `${JSON.stringify(operation)}\n`;
    }
    before = page.at(-1)?.id;
    if (page.length < PAGE) return;
  }
}
