import type { ArmName } from '../arms/index.js';
import type { Arrivals } from '../model/arrivals.js';
import { derive } from '../model/draws.js';
import type { OutageKind } from '../model/outages.js';
import { callsForBursts } from '../runs/bursts.js';
import type { BurstStart } from '../runs/inside-bursts.js';
import type { Job } from '../runs/job.js';
import { baselines, comparedArms, ownArms } from './cells.js';
import type { PlanOptions } from './options.js';

export const outageKinds = ['crashes', 'hangs', 'turnsAway'] as const satisfies OutageKind[];
export const outageRates = [0.2, 2, 100, 2000] as const;
export const outageArms = ['ours', 'hedged', 'withoutBreaker'] as const satisfies ArmName[];
/** Without a budget the load does not depend on the rate: one is enough. */
export const outageRivals = ['seed', 'pRetry', 'undici', 'ky'] as const satisfies ArmName[];

export function outageJobs({ seed }: PlanOptions): Job<'outage'>[] {
  const job = (outage: OutageKind, perSecond: number, arm: ArmName): Job<'outage'> => ({
    id: outageId(outage, perSecond, arm),
    kind: 'outage',
    options: { arm, outage, perSecond, seed: derive(seed, 200) },
  });
  return [
    ...outageKinds.flatMap((kind) =>
      outageRates.flatMap((rate) => outageArms.map((arm) => job(kind, rate, arm))),
    ),
    ...outageRivals.map((arm) => job('crashes', 100, arm)),
  ];
}

export function outageId(outage: OutageKind, perSecond: number, arm: ArmName): string {
  return `outage/${outage}/${perSecond}/${arm}`;
}

export const burstMeans = [50, 200, 1000, 5000] as const;
export const burstRates = [100, 2] as const;

export function burstJobs({ seed, calls }: PlanOptions): Job<'bursts'>[] {
  return burstRates.flatMap((perSecond) =>
    burstMeans.flatMap((meanMs, n) => {
      const wanted = perSecond < 10 ? calls / 10 : calls / 2;
      const some = callsForBursts(wanted, meanMs, perSecond);
      return comparedArms.map((arm): Job<'bursts'> => {
        const options = { arm, meanMs, perSecond, calls: some, seed: derive(seed, 300 + n) };
        return { id: burstId(meanMs, perSecond, arm), kind: 'bursts', options };
      });
    }),
  );
}

export function burstId(meanMs: number, perSecond: number, arm: ArmName): string {
  return `bursts/${meanMs}/${perSecond}/${arm}`;
}

export const insideBurstLengths = [300, 1000] as const;
export const insideBurstRates = [2, 20] as const;
export const insideBurstStarts = ['warm', 'cold'] as const satisfies BurstStart[];
export const insideBurstBaselines = [5, 200, 2000] as const;

export function insideBurstJobs({ seed, calls }: PlanOptions): Job<'insideBursts'>[] {
  const some = Math.min(2_500, Math.max(100, Math.round(calls / 50)));
  return insideBurstLengths.flatMap((burstMs) =>
    insideBurstRates.flatMap((perSecond) =>
      insideBurstStarts.flatMap((start) =>
        insideBurstBaselines.flatMap((p95Ms, n) =>
          comparedArms.map((arm): Job<'insideBursts'> => {
            const about = { burstMs, perSecond, start, p95Ms };
            const options = { ...about, arm, calls: some, seed: derive(seed, 350 + n) };
            return { id: insideBurstId(about, arm), kind: 'insideBursts', options };
          }),
        ),
      ),
    ),
  );
}

export function insideBurstId(
  about: {
    readonly burstMs: number;
    readonly perSecond: number;
    readonly start: BurstStart;
    readonly p95Ms: number;
  },
  arm: ArmName,
): string {
  const { burstMs, perSecond, start, p95Ms } = about;
  return `inside-bursts/${burstMs}/${perSecond}/${start}/${p95Ms}/${arm}`;
}

export const falseOpenRates = [0.2, 0.3] as const;
export const falseOpenArrivals: readonly { readonly title: string; readonly arrivals: Arrivals }[] =
  [
    { title: '8 callers', arrivals: { callers: 8 } },
    { title: '64 callers', arrivals: { callers: 64 } },
    { title: '2 calls/s', arrivals: { perSecond: 2 } },
  ];

export function falseOpenJobs({ seed, calls }: PlanOptions): Job<'falseOpens'>[] {
  const runs = Math.min(100, Math.max(10, Math.round(calls / 2000)));
  const callsPerRun = Math.min(3000, Math.ceil(calls / 10));
  return falseOpenRates.flatMap((faultRate) =>
    falseOpenArrivals.map(({ title, arrivals }): Job<'falseOpens'> => {
      const options = { arm: 'ours', faultRate, arrivals, runs, callsPerRun } as const;
      const id = falseOpenId(faultRate, title);
      return { id, kind: 'falseOpens', options: { ...options, seed: derive(seed, 400) } };
    }),
  );
}

export function falseOpenId(faultRate: number, arrivals: string): string {
  return `false-opens/${faultRate}/${arrivals}`;
}

export const recoveryOutages = [5_000, 30_000, 90_000] as const;
export const RECOVERY_PER_SECOND = 100;
/** The upstream can take half as many requests again as calls come; the rest it sheds. */
export const RECOVERY_CAPACITY = 1.5;

export function recoveryJobs({ seed }: PlanOptions): Job<'recovery'>[] {
  return recoveryOutages.flatMap((outageMs) =>
    comparedArms.map((arm): Job<'recovery'> => {
      const options = {
        arm,
        outageMs,
        perSecond: RECOVERY_PER_SECOND,
        capacity: RECOVERY_CAPACITY,
      };
      const id = recoveryId(outageMs, arm);
      return { id, kind: 'recovery', options: { ...options, seed: derive(seed, 500) } };
    }),
  );
}

export function recoveryId(outageMs: number, arm: ArmName): string {
  return `recovery/${outageMs}/${arm}`;
}

export function coldJobs({ seed, calls }: PlanOptions): Job<'cold'>[] {
  const runs = Math.min(1000, Math.max(20, Math.round(calls / 200)));
  return baselines.flatMap((p95Ms, n) =>
    ownArms.map((arm): Job<'cold'> => {
      const options = { arm, p95Ms, perSecond: 100, runs, seed: derive(seed, 600 + n) };
      return { id: coldId(p95Ms, arm), kind: 'cold', options };
    }),
  );
}

export function coldId(p95Ms: number, arm: ArmName): string {
  return `cold/${p95Ms}/${arm}`;
}
