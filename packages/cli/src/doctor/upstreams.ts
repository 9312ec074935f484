import type { PackHealth } from '@toolkeel/contract';
import type { Finding } from './finding.js';

/** Whether each upstream answers. */
export function upstreamFindings(health: Readonly<Record<string, PackHealth>>): Finding[] {
  return Object.entries(health).flatMap(([pack, { ok, detail, advice, configured, upstreams }]) => {
    // Nobody may want it at all.
    if (configured === false) return [{ status: 'warn', what: pack, detail }];
    return upstreams
      ? upstreams.map((one) => finding(`${pack}: ${one.name}`, one.ok, ok, one.detail))
      : [finding(pack, ok, ok, detail, advice)];
  });
}

/** An upstream that fails is only worth knowing where its pack can do without it. */
function finding(
  what: string,
  ok: boolean,
  packIsWell: boolean,
  detail: string,
  advice = 'Check its address and credential in the configuration, and the network.',
): Finding {
  if (ok) return { status: 'ok', what, detail };
  return { status: packIsWell ? 'warn' : 'fail', what, detail, advice };
}
