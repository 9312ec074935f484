/** Signs of what a parser lets pass and JSON cannot carry on: huge numbers, half surrogate pairs. */
const SUSPECT = /[eE]\+?\d{3}|\d{300}|\\u[dD][89a-fA-F]/;
const SURROGATE = /\p{Surrogate}/gu;

/** Parses JSON into what can be written as JSON again. Throws a SyntaxError for all else. */
export function parseJson(text: string): unknown {
  const plain = text.startsWith('\uFEFF') ? text.slice(1) : text;
  // A reviver makes parsing many times slower, so only texts that need it get one.
  return JSON.parse(plain, SUSPECT.test(plain) ? repaired : undefined);
}

function repaired(_key: string, value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(SURROGATE, '\uFFFD');
  if (typeof value !== 'number' || Number.isFinite(value)) return value;
  throw new SyntaxError('a number beyond all bounds');
}
