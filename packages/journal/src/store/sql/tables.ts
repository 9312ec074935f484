import type { AuditRow } from '../../audit/row.js';
import type { Tables } from '../tables.js';
import { sqlAudit } from './audit.js';
import { sqlCalls } from './calls.js';
import { sqlLimits } from './limits.js';
import { sqlMeta } from './meta.js';
import { sqlNotices } from './notices.js';
import { sqlOperations, type SqlDeps } from './operations.js';
import { sqlOwners } from './owners.js';

export interface SqlTablesOptions extends SqlDeps {
  /** When the transition began. */
  readonly now: () => number;
  /** How many calls are kept. */
  readonly calls: number;
  /** Called with rows that this process has linked itself: not on PostgreSQL, which links them. */
  readonly onAudit?: (row: AuditRow) => void;
}

/** The tables as a transition sees them; as the next one sees them too, where these take turns. */
export function sqlTables({ now, calls, onAudit, ...deps }: SqlTablesOptions): Tables {
  const { dialect } = deps;
  const owners = sqlOwners(dialect);
  return {
    get now() {
      return now();
    },
    operations: sqlOperations(deps, owners),
    owners,
    limits: sqlLimits(dialect, now),
    audit: sqlAudit(dialect, now, onAudit),
    notices: sqlNotices(dialect, now),
    calls: sqlCalls(dialect, calls),
    meta: sqlMeta(dialect),
  };
}
