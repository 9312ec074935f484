import { latencySchema, type Latency } from './latency.js';
import { faultRuleSchema, type FaultRule } from './rule.js';
import { checked, UsageError } from './usage.js';

type Words = Readonly<Record<string, (text: string) => Record<string, unknown>>>;

const settings: Words = {
  'retry-after': (text) => ({ retryAfter: retryAfterFrom(text) }),
  method: (text) => ({ methods: text.toUpperCase().split(',') }),
  skip: (text) => ({ skip: Number(text) }),
  times: (text) => ({ times: Number(text) }),
  pace: (text) => ({ pace: Number(text) }),
  'stall-ms': (text) => ({ stallMs: Number(text) }),
  'drip-ms': (text) => ({ dripMs: Number(text) }),
  'above-limit': (text) => ({ aboveLimit: Number(text) }),
  location: (text) => ({ location: text }),
};

/**
 * A fault as text: `[RATE:]KIND[,KIND…][@ROUTE[,ROUTE…]][;SETTING=VALUE…]`
 *
 * For example `20%:http-503@search;retry-after=2` or `stall@item;times=1`.
 */
export function faultFromText(text: string): FaultRule {
  const [head = '', ...rest] = text.split(';');
  const [, rate, kinds = '', routes] =
    /^(?:([\d.]+%?):)?([^@]*)(?:@(.+))?$/.exec(head.trim()) ?? [];
  const kind = kinds.split(',').map((name) => name.trim());
  const changes = rest.map((part) => settingFrom(part, text));
  const rule = {
    kind: kind.length === 1 ? kind[0] : kind,
    ...(rate !== undefined && {
      rate: rate.endsWith('%') ? Number.parseFloat(rate) / 100 : Number(rate),
    }),
    ...(routes !== undefined && { routes: routes.split(',').map((name) => name.trim()) }),
    ...Object.assign({}, ...changes),
  } as unknown;
  return checked(faultRuleSchema, rule, `the fault "${text}"`);
}

function settingFrom(part: string, whole: string): Record<string, unknown> {
  const [name = '', ...value] = part.trim().split('=');
  const read = Object.hasOwn(settings, name) ? settings[name] : undefined;
  if (!read)
    throw new UsageError(
      `the fault "${whole}": "${name}" is not one of ${Object.keys(settings).join(', ')}`,
    );
  return read(value.join('='));
}

function retryAfterFrom(text: string): unknown {
  if (text.startsWith('date+')) return { dateInSeconds: Number(text.slice('date+'.length)) };
  return text.startsWith('raw:') ? { raw: text.slice('raw:'.length) } : { seconds: Number(text) };
}

/** Latencies as text: `200` milliseconds, `p95=200` or `p95=200,sigma=0.3`, and for a route `search:p95=400`. */
export function latencyFromText(texts: readonly string[]): Latency {
  const routes: Record<string, unknown> = {};
  let everywhere: object = { fixedMs: 0 };
  for (const text of texts) {
    const [, route, shape = ''] = /^(?:([\w-]+):)?(.*)$/.exec(text.trim()) ?? [];
    if (route === undefined) everywhere = shapeFrom(shape);
    else routes[route] = shapeFrom(shape);
  }
  const latency = { ...everywhere, ...(Object.keys(routes).length > 0 && { routes }) };
  return checked(latencySchema, latency, `the latency "${texts.join('" "')}"`);
}

function shapeFrom(text: string): Record<string, unknown> {
  if (/^[\d.]+$/.test(text)) return { fixedMs: Number(text) };
  const names: Readonly<Record<string, string>> = { p95: 'p95Ms', fixed: 'fixedMs' };
  return Object.fromEntries(
    text.split(',').map((part) => {
      const [name = '', value] = part.trim().split('=');
      return [names[name] ?? name, Number(value)];
    }),
  );
}
