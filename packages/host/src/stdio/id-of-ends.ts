const ID = String.raw`(-?\d{1,16}|"(?:[^"\\]|\\.){0,200}")`;
/** Nothing but plain members before it, so it is one of the message itself. */
const AT_BEGIN = new RegExp(
  String.raw`^\s*\{\s*(?:"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*,\s*){0,2}"id"\s*:\s*${ID}\s*[,}]`,
);
/** Nothing but the end of the message after it, so no object inside of it is meant. */
const AT_END = new RegExp(
  String.raw`,\s*"id"\s*:\s*${ID}\s*(?:,\s*"jsonrpc"\s*:\s*"[^"\\]*"\s*)?\}\s*$`,
);

/** The id of a message of which only the ends are known: clients write it first or last. */
export function idOfEnds(head: string, tail: string): string | number | null {
  const found = AT_BEGIN.exec(head)?.[1] ?? AT_END.exec(tail)?.[1];
  if (found === undefined) return null;
  try {
    return JSON.parse(found) as string | number;
  } catch {
    return null;
  }
}
