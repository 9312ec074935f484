export const ACCENTED =
  '\\xC0-\\xD6\\xD8-\\xF6\\xF8-\\u024F\\u0253\\u0254\\u0256\\u0257\\u0259\\u025B\\u0263\\u0268\\u026F\\u0272\\u0289\\u028B\\u02BB\\u0300-\\u036F\\u1E00-\\u1EFF';
const CYRILLIC = '\\u0400-\\u04FF';

export const PATH_LETTER = `[a-z0-9${CYRILLIC}${ACCENTED}!*';:=+,.$/%#\\[\\]\\-\\u2013_~@|&]`;
/** One pair of brackets inside another one still belongs to the address. */
export const IN_BRACKETS = `\\((?:${PATH_LETTER}+|${PATH_LETTER}*\\(${PATH_LETTER}+\\)${PATH_LETTER}*)\\)`;
export const PATH_END = `[a-z0-9${CYRILLIC}${ACCENTED}+\\-=_#/]`;

const BRACKETS = new RegExp(IN_BRACKETS, 'iy');
const LETTERS = new RegExp(`${PATH_LETTER}+`, 'iy');
const LETTERS_TO_END = new RegExp(`${PATH_LETTER}*${PATH_END}`, 'iy');
const PORT = /:[0-9]+/y;
const QUERY = /\?[a-z0-9!?*'@();:&=+$/%#[\]\-_.,~|]*[a-z0-9\-_&=#/]/iy;

/** What follows a host: port, path, query. */
export interface Rest {
  readonly end: number;
  readonly hasPath: boolean;
}

export function restEnd(text: string, from: number): Rest {
  const port = endOf(PORT, text, from) ?? from;
  const path = pathEnd(text, port);
  const end = path ?? port;
  return { end: endOf(QUERY, text, end) ?? end, hasPath: path !== undefined };
}

/**
 * Where a path ends that begins here. It ends with a letter that may end one, however many others and
 * brackets stand before that, and with the brackets that follow it directly. One expression could say
 * that too, and would try for a long time in how many ways many brackets can be read.
 */
export function pathEnd(text: string, from: number): number | undefined {
  if (text[from] !== '/') return undefined;
  let end = from + 1;
  for (let at = end; ;) {
    const behind = endOf(BRACKETS, text, at);
    const next = behind ?? endOf(LETTERS, text, at);
    if (next === undefined) return end;
    if (behind === undefined) end = endOf(LETTERS_TO_END, text, at) ?? end;
    else if (end === at) end = behind;
    at = next;
  }
}

function endOf(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}
