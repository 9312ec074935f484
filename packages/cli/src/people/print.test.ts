import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { watchedSurroundings } from '../surroundings.fixture.js';
import { facts, harmless, table } from './print.js';

const middleware = watchedSurroundings();

describe('what is printed for people', () => {
  it('is a table with columns as wide as they have to be', () => {
    const rows = [
      ['op_1', 'a', ''],
      ['op_22', 'bcd', 'x'],
    ];
    expect(table(['ID', 'TOOL', 'END'], rows, middleware)).toBe(
      'ID     TOOL  END\nop_1   a\nop_22  bcd   x\n',
    );
  });

  it('is names and values, of which those that are missing are left out', () => {
    const pairs = [
      ['tool', 'x'],
      ['arguments', '{\n}'],
      ['cost', undefined],
    ] as const;
    expect(facts(pairs)).toBe('tool       x\narguments  {\n           }\n');
  });

  it('never steers a terminal', () => {
    const rows = [['\u001B[2J', 'a\nb', '\u202Egpj']];
    expect(table(['A', 'B', 'C'], rows, middleware)).toBe(
      'A          B    C\n\\u001b[2J  a b  \\u202egpj\n',
    );
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(harmless(text).replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
      }),
    );
  });
});
