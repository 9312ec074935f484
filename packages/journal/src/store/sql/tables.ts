import { slotOf } from '../../slot.js';
import type { Tables } from '../tables.js';
import { sqlAudit } from './audit.js';
import { sqlCalls } from './calls.js';
import { sqlLimits } from './limits.js';
import { sqlMeta } from './meta.js';
import { sqlNotices } from './notices.js';
import { sqlOperations, type SqlDeps } from './operations.js';
import { sqlOwners } from './owners.js';

export interface SqlTablesOptions extends SqlDeps {
  readonly now: number;
  /** How many calls are kept. */
  readonly calls: number;
}

/** The tables as one transition sees them. */
export function sqlTables({ now, calls, ...deps }: SqlTablesOptions): Tables {
  const { dialect } = deps;
  return {
    now,
    slotOf,
    operations: sqlOperations(deps),
    owners: sqlOwners(dialect),
    limits: sqlLimits(dialect, now),
    audit: sqlAudit(dialect, now),
    notices: sqlNotices(dialect, now),
    calls: sqlCalls(dialect, calls),
    meta: sqlMeta(dialect),
  };
}
