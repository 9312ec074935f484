import { hostname } from 'node:os';
import type { UpstreamState } from '@toolkeel/contract';
import type { DescribeProcess } from '@toolkeel/journal';
import type { Effect } from '@toolkeel/kernel';
import type { CallEngine } from './engine.js';
import type { InFlight } from './in-flight.js';
import type { UpstreamMonitor, UpstreamObservation } from './upstream-monitor.js';

/** What a process says about itself in the table of processes; changes rarely. */
export interface ProcessInfo {
  readonly name: string;
  readonly kind: 'host' | 'guard';
  readonly transport: 'stdio' | 'http' | 'other';
  readonly url?: string;
  /** Whether the console is served there. */
  readonly console?: true;
  readonly version: string;
  readonly profile: string;
  readonly machine: string;
  readonly pid: number;
  readonly packs: readonly {
    readonly name: string;
    readonly tools: readonly { readonly name: string; readonly effect: Effect }[];
  }[];
}

/** The part that changes while it works. Times are Unix milliseconds. */
export interface ProcessActivity {
  readonly upstreams: readonly UpstreamReport[];
  readonly inFlight: readonly InFlight[];
  /** Further calls in flight that are not listed. */
  readonly more?: number;
}

export interface UpstreamReport {
  readonly pack: string;
  readonly name: string;
  readonly circuit: UpstreamState['circuit'];
  readonly probeAt?: number;
  readonly tokens?: number;
  readonly capacity?: number;
  readonly limits: readonly {
    readonly route?: string;
    readonly name?: string;
    readonly limit: number;
    readonly remaining: number;
    readonly resetAt: number;
  }[];
  readonly observed?: UpstreamObservation;
}

/** How this process is reached; set when it starts to serve. */
export interface Reachability {
  transport: ProcessInfo['transport'];
  url?: string | undefined;
  console?: true | undefined;
}

interface Options extends Pick<ProcessInfo, 'name' | 'kind' | 'version' | 'profile'> {
  readonly reachability: Reachability;
  readonly packs: () => readonly {
    readonly name: string;
    readonly specs: readonly { readonly name: string; readonly effect: Effect }[];
    readonly upstreams: readonly UpstreamState[];
  }[];
  readonly engine: () => Pick<CallEngine, 'inFlight' | 'runningCalls'>;
  readonly monitor: UpstreamMonitor;
}

const MAX_IN_FLIGHT = 200;

/** Describes this process for the console. */
export function processDescription(options: Options): DescribeProcess {
  const { name, kind, version, profile, reachability, packs, engine, monitor } = options;
  const machine = hostname();
  return () => {
    const { transport, url, console: hasConsole } = reachability;
    const described = packs();
    const info: ProcessInfo = {
      name,
      kind,
      transport,
      ...(url !== undefined && { url }),
      ...(hasConsole && { console: true }),
      version,
      profile,
      machine,
      pid: process.pid,
      packs: described.map((pack) => ({
        name: pack.name,
        tools: pack.specs.map((spec) => ({ name: spec.name, effect: spec.effect })),
      })),
    };
    const inFlight = engine().inFlight(MAX_IN_FLIGHT);
    const more = engine().runningCalls - inFlight.length;
    const state: ProcessActivity = {
      upstreams: described.flatMap((pack) =>
        pack.upstreams.map((upstream) => report(pack.name, upstream, monitor)),
      ),
      inFlight,
      ...(more > 0 && { more }),
    };
    return { info, state };
  };
}

function report(pack: string, upstream: UpstreamState, monitor: UpstreamMonitor): UpstreamReport {
  const { name, circuit, retryTokens, retryCapacity, probeAt } = upstream;
  const now = Date.now();
  const observed = monitor.get(name);
  return {
    pack,
    name,
    circuit,
    ...(probeAt !== undefined && { probeAt: Math.round(now + probeAt - performance.now()) }),
    ...(retryTokens !== undefined && { tokens: Math.round(retryTokens * 10) / 10 }),
    ...(retryCapacity !== undefined && { capacity: retryCapacity }),
    limits: (upstream.limits?.(now) ?? []).map(
      ({ route, name: window, limit, remaining, reset }) => ({
        ...(route !== undefined && { route }),
        ...(window !== undefined && { name: window }),
        limit,
        remaining,
        resetAt: Math.round(reset * 1000),
      }),
    ),
    ...(observed && { observed }),
  };
}
