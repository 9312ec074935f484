import { expect, it } from 'vitest';
import { loadTokenCounter } from './tokens.js';

const count = loadTokenCounter();

// Counted with js-tiktoken 1.0.21, encoding o200k_base.
it.each([
  ['', 0],
  [' ', 1],
  ['a', 1],
  ['Hello, world!', 4],
  ["I'M you'Ll they've DON'T", 7],
  ['日本語のテキスト', 6],
  ['😀👩‍👩‍👧‍👦 emoji', 13],
  ['   \n\n  x\t\t', 4],
  ['1234567 89', 5],
  ['{"type":"object"}', 5],
  ['é̀ combining', 3],
  ['ПРИВЕТ мир', 5],
  ['----////\r\n', 3],
  ['camelCaseHTTPServer', 4],
  ['\uD800 lone', 2],
])('counts %j', (text, tokens) => {
  expect(count(text)).toBe(tokens);
});
