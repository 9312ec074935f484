import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { prettyLines } from './pretty.js';

const line = (entry: object): string => `${JSON.stringify(entry)}\n`;
const time = '2026-01-02T03:04:05.678Z';

describe('formatted log lines', () => {
  it('start with time, level and event', () => {
    const text = line({ level: 'warn', time, event: 'retry_attempt', tool_name: 'get_root', n: 2 });
    expect(prettyLines(text)).toBe('03:04:05.678 WARN  retry_attempt tool_name=get_root n=2\n');
  });

  it('stay single lines', () => {
    const text = line({ level: 'info', time, event: 'a', text: 'two\nlines' }) + 'not JSON "x"\n';
    expect(prettyLines(text).split('\n')).toEqual([
      String.raw`03:04:05.678 INFO  a text="two\nlines"`,
      'not JSON "x"',
      '',
    ]);
  });

  it('have colours on request only', () => {
    const text = line({ level: 'error', time, event: 'broken', cause: { message: 'x' } });
    const coloured = prettyLines(text, { colours: true });
    expect(coloured).not.toBe(prettyLines(text));
    expect(stripVTControlCharacters(coloured)).toBe(prettyLines(text));
  });

  it('never contain control characters from values', () => {
    const foreign = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constant('\u009b2J\u001b]0;x\u0007'),
    );
    const entry = fc.dictionary(foreign, fc.oneof(foreign, fc.jsonValue()));
    const inputs = fc.oneof(
      fc.tuple(entry, foreign, foreign).map(([fields, event, level]) => {
        return line({ ...fields, event, level });
      }),
      foreign.map((text) => text.replaceAll('\n', ' ')),
    );
    fc.assert(
      fc.property(inputs, (text) => {
        // oxlint-disable-next-line no-control-regex
        return !/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/.test(prettyLines(text));
      }),
    );
  });
});
