import type { Results } from '../runs/results.js';
import { cellTables, circumstanceTable } from './cell-tables.js';
import { outageTable, rivalOutageTable } from './outage-tables.js';
import * as scenarios from './scenario-tables.js';
import type { Table } from './table.js';

/** Every table that has a row. */
export function tablesOf(results: Results): Table[] {
  return [
    ...cellTables(results),
    circumstanceTable(results),
    scenarios.coldTable(results),
    outageTable(results),
    rivalOutageTable(results),
    scenarios.insideBurstTable(results),
    ...scenarios.burstTables(results),
    scenarios.falseOpenTable(results),
    scenarios.recoveryTable(results),
  ].filter(({ rows }) => rows.length > 0);
}
