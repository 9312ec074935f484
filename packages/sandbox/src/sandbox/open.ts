import { createChaos, type ChaosOptions } from '../chaos/chaos.js';
import { NO_LATENCY, type Latency } from '../chaos/latency.js';
import type { FaultRule } from '../chaos/rule.js';
import { checkedFaults, checkedLatency } from '../chaos/usage.js';
import { openFront, type Front } from '../front/front.js';
import { createLog, type Counts, type LogEntry, type LogQuery } from '../front/log.js';
import type { Upstream } from '../front/upstream.js';
import { openControl, type ExtraControl } from './control.js';

export interface OpenOptions extends ChaosOptions {
  /** Ports by the name of the address; the first one is the upstream's own. 0 is any that is free. */
  readonly ports: Readonly<Record<string, number>>;
  readonly controlPort?: number;
  readonly logCapacity?: number;
  /** What this upstream offers beside what all offer. */
  readonly extraControl?: ExtraControl;
}

/** What can be done to a running upstream, whichever it is. */
export interface Sandbox {
  /** For another process: another port, and a path that nobody can guess. */
  readonly control: { readonly url: string };
  readonly log: (query?: LogQuery) => LogEntry[];
  readonly counts: () => Counts;
  readonly clearLog: () => void;
  readonly faults: () => readonly FaultRule[];
  readonly setFaults: (rules: readonly FaultRule[]) => void;
  readonly latency: () => Latency;
  readonly setLatency: (latency: Latency) => void;
  /** While it is not reachable, connections are refused, as by a host where nothing listens. */
  readonly setReachable: (reachable: boolean) => Promise<void>;
  /** Empties the log and begins the same draws again, or those of another seed. */
  readonly restart: (seed?: number) => void;
  readonly close: () => Promise<void>;
}

/** Opens an upstream on its addresses. The upstream is made when they are known, for its links. */
export async function openSandbox(
  options: OpenOptions,
  upstreamAt: (origins: Readonly<Record<string, string>>) => Upstream,
): Promise<Sandbox & { readonly origins: Readonly<Record<string, string>> }> {
  const { faults = [], latency = NO_LATENCY, ...luck } = options;
  const chaos = createChaos(luck);
  const log = createLog(options.logCapacity);
  let upstream: Upstream | undefined;
  // Nobody knows the addresses yet, so nobody can ask before there is an upstream.
  const later: Upstream = {
    routes: [],
    contentFaults: [],
    routeOf: (method, path) => upstream?.routeOf(method, path) ?? '',
    answer: (request, seat) =>
      upstream?.answer(request, seat) ?? new Response(null, { status: 503 }),
    outage: (status) => upstream?.outage(status) ?? { type: 'text/plain', text: '' },
  };

  const fronts = new Map<string, Front>();
  const close = async (): Promise<void> => {
    await Promise.all([...fronts.values()].map((front) => front.close()));
  };
  try {
    for (const [host, port] of Object.entries(options.ports))
      fronts.set(host, await openFront({ upstream: later, chaos, log, host, port }));
    const origins = Object.fromEntries([...fronts].map(([host, { origin }]) => [host, origin]));
    const own = [...fronts.values()];
    const made = upstreamAt(origins);
    upstream = made;
    const handle = {
      log: log.entries,
      counts: log.counts,
      clearLog: log.clear,
      faults: chaos.faults,
      setFaults: (rules: readonly FaultRule[]) => chaos.setFaults(checkedFaults(rules, made)),
      latency: chaos.latency,
      setLatency: (shape: Latency) => chaos.setLatency(checkedLatency(shape, made.routes)),
      setReachable: async (reachable: boolean) => {
        await Promise.all(own.map((front) => front.setReachable(reachable)));
      },
      restart: (seed?: number) => {
        log.clear();
        chaos.restart(seed);
      },
    };
    handle.setFaults(faults);
    handle.setLatency(latency);
    const controlled = { ...handle, origins };
    const control = await openControl(controlled, options.controlPort ?? 0, options.extraControl);
    fronts.set('control', control);
    return { ...handle, origins, control: { url: control.url }, close };
  } catch (cause) {
    await close();
    throw cause;
  }
}
