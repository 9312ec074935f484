import type { FoundHeaders } from './headers.js';
import { parseDictionary, parseItemList, type Item } from './structured-fields.js';
import type { Window } from './window.js';

export const IETF_HEADERS: readonly string[] = ['ratelimit', 'ratelimit-policy'];

/**
 * The IETF's structured fields (draft-ietf-httpapi-ratelimit-headers-11):
 * `RateLimit: "default";r=50;t=30`, with the quota in `RateLimit-Policy: "default";q=100;w=60`.
 * Also draft -07's `RateLimit: limit=100, remaining=50, reset=30`, which deployed servers send.
 * A limit without `t` has no time to wait for, so there is no window to report.
 */
export function ietfWindows(headers: FoundHeaders): Window[] {
  const text = headers.get('ratelimit');
  if (text === undefined) return [];
  const items = parseItemList(text);
  if (items === undefined) return draft07(text);
  const quotas = quotasOf(headers.get('ratelimit-policy'));
  const windows: Window[] = [];
  for (const { value, params } of items) {
    const remaining = count(params.get('r'));
    const seconds = count(params.get('t'));
    if (value.type !== 'string' || remaining === undefined || seconds === undefined) continue;
    windows.push({
      waitMs: seconds * 1000,
      remaining,
      limit: quotas.get(value.value),
      name: value.value,
    });
  }
  return windows;
}

function quotasOf(policy: string | undefined): Map<string, number> {
  const quotas = new Map<string, number>();
  for (const { value, params } of parseItemList(policy ?? '') ?? []) {
    const quota = count(params.get('q'));
    if (value.type === 'string' && quota !== undefined) quotas.set(value.value, quota);
  }
  return quotas;
}

function draft07(text: string): Window[] {
  const members = parseDictionary(text);
  const remaining = count(members?.get('remaining')?.value);
  const seconds = count(members?.get('reset')?.value);
  if (remaining === undefined || seconds === undefined) return [];
  const limit = count(members?.get('limit')?.value);
  return [{ waitMs: seconds * 1000, remaining, limit, name: undefined }];
}

function count(item: Item['value'] | undefined): number | undefined {
  return item?.type === 'integer' && item.value >= 0 ? item.value : undefined;
}
