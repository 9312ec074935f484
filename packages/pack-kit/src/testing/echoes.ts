/** An encoding in which an upstream can echo a secret. */
export interface Echo {
  readonly name: string;
  readonly write: (secret: string) => string;
}

const perCharacter = (write: (code: number) => string) => (secret: string) =>
  Array.from(secret, (char) => write(char.codePointAt(0)!)).join('');

const hex = (code: number, digits = 0): string => code.toString(16).padStart(digits, '0');
const jsonEscapes = perCharacter((code) => `\\u${hex(code, 4)}`);
const percent = perCharacter((code) => `%${hex(code, 2)}`);
const decimal = perCharacter((code) => `&#${code};`);
const splitBy = (separator: string) => (secret: string) => Array.from(secret).join(separator);
const base64 = (text: string): string => Buffer.from(text).toString('base64');

const NAMED: Readonly<Record<string, string>> = {
  '-': '&#45;',
  _: '&lowbar;',
  '/': '&sol;',
  '+': '&plus;',
  '.': '&period;',
  '=': '&equals;',
  ' ': '&nbsp;',
  '"': '&quot;',
};

const encodings: Readonly<Record<string, (secret: string) => string>> = {
  'as it is': (secret) => secret,
  'behind a scheme': (secret) => `Bearer ${secret}`,
  'named HTML entities': (secret) => Array.from(secret, (char) => NAMED[char] ?? char).join(''),
  'decimal HTML entities': decimal,
  'decimal HTML entities with zeros, without semicolons': perCharacter((code) => `&#000${code}`),
  'hexadecimal HTML entities': perCharacter((code) => `&#x${hex(code)};`),
  'hexadecimal HTML entities in upper case': perCharacter(
    (code) => `&#X${hex(code).toUpperCase()};`,
  ),
  'HTML entities of HTML entities': (secret) => decimal(secret).replaceAll('&', '&amp;'),
  'JSON escapes': jsonEscapes,
  'JSON escapes in upper case': perCharacter((code) => `\\u${hex(code, 4).toUpperCase()}`),
  'JSON escapes inside JSON': (secret) => jsonEscapes(secret).replaceAll('\\', '\\\\'),
  'JavaScript escapes': perCharacter((code) => `\\x${hex(code, 2)}`),
  'escaped slashes': (secret) => secret.replaceAll('/', '\\/'),
  'percent-encoding': percent,
  'percent-encoding in upper case': perCharacter((code) => `%${hex(code, 2).toUpperCase()}`),
  'double percent-encoding': (secret) => percent(secret).replaceAll('%', '%25'),
  'percent-encoding of HTML entities': (secret) => percent(decimal(secret)),
  'a query parameter': (secret) => `https://x.example/?key=${encodeURIComponent(secret)}&n=2`,
  'zero-width spaces': splitBy('\u200B'),
  'soft hyphens': splitBy('\u00AD'),
  'variation selectors': splitBy('\uFE0F'),
  'combining grapheme joiners': splitBy('\u034F'),
  'tag characters': splitBy('\u{E0041}'),
  'zero-width HTML entities': splitBy('&ZeroWidthSpace;'),
  'negative spaces as HTML entities': splitBy('&NegativeThinSpace;'),
  'escaped zero-width spaces': splitBy('\\u200b'),
  'line breaks': (secret) => `${secret.slice(0, 5)}\n${secret.slice(5)}`,
  base64,
  base64url: (secret) => Buffer.from(secret).toString('base64url'),
  'basic credentials': (secret) => `Basic ${base64(`me:${secret}`)}`,
  'base64 in the middle': (secret) => base64(`x${secret}, and more`),
  'percent-encoded base64': (secret) => encodeURIComponent(base64(`${secret}??`)),
  'base64 in lines': (secret) => base64(`abc:${secret}`).replaceAll(/.{8}/g, '$&\r\n'),
};

/** The encodings that every pack and the host must redact. */
export const echoes: readonly Echo[] = Object.entries(encodings).map(([name, write]) => ({
  name,
  write,
}));
