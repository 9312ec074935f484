type Parsed =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: string };

/** JSON, or in which line it ends to be JSON. The text itself is not quoted: it may hold anything. */
export function parseJson(text: string): Parsed {
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : '';
    const at = /at position (\d+)/.exec(message)?.[1];
    const offset = at === undefined ? text.length : Number(at);
    const before = text.slice(0, offset).split('\n');
    const column = (before.at(-1)?.length ?? 0) + 1;
    return { ok: false, reason: `is not JSON: line ${before.length}, column ${column}` };
  }
}
