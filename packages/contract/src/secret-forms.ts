/**
 * How a secret may stand in a text: as it is, in JSON (once and twice), in a URL, and in base64, alone
 * or behind something else, as basic credentials are.
 */
export function secretForms(value: string): readonly string[] {
  const inJson = JSON.stringify(value).slice(1, -1);
  // Half a character cannot be in a URL, and `encodeURIComponent` throws on it.
  const inUrl = encodeURIComponent(Buffer.from(value).toString());
  const base64 = [0, 1, 2].map((before) => base64After(before, value));
  const base64url = base64.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'));
  const twice = JSON.stringify(inJson).slice(1, -1);
  return [...new Set([value, inJson, twice, inUrl, ...base64, ...base64url])];
}

/** The part of the base64 that does not depend on what stands before the value and after it. */
function base64After(before: number, value: string): string {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(value)]);
  const first = Math.ceil((before * 8) / 6);
  const behind = Math.floor((bytes.length * 8) / 6);
  return bytes.toString('base64').slice(first, behind);
}
