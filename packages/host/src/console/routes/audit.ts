import type { AuditRowsResponse, AuditStatus } from '@toolkeel/console';
import * as z from 'zod';
import type { RouteDeps, Routes } from '../api.js';
import { auditRowView } from '../audit-watch.js';
import { invalid } from '../errors.js';
import { fileResponse, formatOf, limitOf, readBody, timeOf, wholeNumber } from '../request.js';

const verifyBody = z.strictObject({ expect: z.string().max(100).optional() });

export function auditRoutes({ audit, journal, scrub }: RouteDeps): Routes {
  return {
    get: {
      '/audit': (): Promise<AuditStatus> => audit.status(),
      '/audit/head': async () => {
        const { store } = await journal();
        return { head: (await store.auditHead()) ?? null };
      },
      '/audit/rows': async ({ req }): Promise<AuditRowsResponse> => {
        const query = req.query();
        const limit = limitOf(query, 100);
        const { store } = await journal();
        const head = (await store.auditHead())?.seq ?? 0;
        const end = Math.min(wholeNumber(query, 'before') ?? Infinity, head + 1);
        const from = Math.max(1, end - limit);
        const rows = (await store.auditRows(from, limit)).filter(({ seq }) => seq < end);
        return {
          rows: rows.map(auditRowView).toReversed(),
          ...(from > 1 && { next: from }),
        };
      },
      '/audit/export': async ({ req }) => {
        const query = req.query();
        const format = formatOf(query);
        const [since, until] = [timeOf(query, 'since'), timeOf(query, 'until')];
        const { exportAudit, readAudit } = await import('@toolkeel/journal');
        const { store } = await journal();
        const lines = exportAudit(readAudit(store), {
          format,
          ...(since !== undefined && { since }),
          ...(until !== undefined && { until }),
        });
        return fileResponse(lines, 'audit', format, scrub);
      },
    },
    post: {
      '/audit/verify': async ({ req }): Promise<AuditStatus> => {
        const { expect } = await readBody(req.raw, verifyBody);
        return audit.verifyAll(expect === undefined ? undefined : parseHead(expect));
      },
    },
  };
}

function parseHead(text: string): { readonly seq: number; readonly hash: string } {
  const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text.trim()) ?? [];
  if (seq !== undefined && hash !== undefined) return { seq: Number(seq), hash };
  throw invalid('expect must be SEQ:HASH, as "toolkeel audit head" prints it');
}
