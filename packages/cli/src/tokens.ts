import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';

/**
 * The vocabulary of o200k_base, the encoding of GPT-4o and later: the lengths of its tokens in the order of
 * their ranks, one byte each, then the tokens themselves. An npm package with the same data is 22 MB.
 */
const VOCABULARY = fileURLToPath(new URL('../data/o200k.br', import.meta.url));
const SIZE = 199_998;

/** The pattern that splits a text before its bytes are merged, as published with the encoding. */
const ENDING = `(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])?`;
const UPPER = String.raw`[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`;
const LOWER = String.raw`[\p{Ll}\p{Lm}\p{Lo}\p{M}]`;
const BEFORE = String.raw`[^\r\n\p{L}\p{N}]?`;
const PIECE = new RegExp(
  [
    `${BEFORE}${UPPER}*${LOWER}+${ENDING}`,
    `${BEFORE}${UPPER}+${LOWER}*${ENDING}`,
    String.raw`\p{N}{1,3}`,
    String.raw` ?[^\s\p{L}\p{N}]+[\r\n/]*`,
    String.raw`\s*[\r\n]+`,
    String.raw`\s+(?!\S)`,
    String.raw`\s+`,
  ].join('|'),
  'gu',
);

/** Loads the vocabulary and returns a function that counts the o200k tokens of a text. */
export function loadTokenCounter(): (text: string) => number {
  const ranks = readRanks();
  const known = new Map<string, number>();
  const countPiece = (piece: string): number => {
    const counted = known.get(piece) ?? mergeBytes(Buffer.from(piece).toString('latin1'), ranks);
    known.set(piece, counted);
    return counted;
  };
  return (text) => {
    let count = 0;
    for (const [piece] of text.matchAll(PIECE)) count += countPiece(piece);
    return count;
  };
}

/** The ranks by token. Tokens are byte strings: one character per byte. */
function readRanks(): ReadonlyMap<string, number> {
  const data = brotliDecompressSync(readFileSync(VOCABULARY));
  const ranks = new Map<string, number>();
  let at = SIZE;
  for (let rank = 0; rank < SIZE; rank += 1) {
    const end = at + (data[rank] ?? 0);
    ranks.set(data.toString('latin1', at, end), rank);
    at = end;
  }
  return ranks;
}

/** The number of tokens: merges the pair with the lowest rank until no pair is a token. */
function mergeBytes(bytes: string, ranks: ReadonlyMap<string, number>): number {
  if (ranks.has(bytes)) return 1;
  const parts = bytes.split('');
  for (;;) {
    let best = Number.POSITIVE_INFINITY;
    let at = -1;
    for (let index = 0; index + 1 < parts.length; index += 1) {
      const rank = ranks.get(`${parts[index]}${parts[index + 1]}`) ?? Number.POSITIVE_INFINITY;
      if (rank < best) [best, at] = [rank, index];
    }
    if (at === -1) return parts.length;
    parts.splice(at, 2, `${parts[at]}${parts[at + 1]}`);
  }
}
