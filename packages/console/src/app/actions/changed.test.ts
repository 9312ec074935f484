import { describe, expect, it } from 'vitest';
import type { Check, Preview } from '../../api/types.js';
import { changeText } from './changed.js';

const preview = (
  result: Check['result'],
  consequence: string,
  more: Partial<Preview> = {},
): Preview =>
  ({
    action: 'approve',
    version: result,
    consequences: [consequence],
    checks: [{ by: 'circuit', result, text: '' }],
    ...more,
  }) as unknown as Preview;

describe('a preview that is computed again', () => {
  const later = preview('blocks', 'Nothing is sent now.');

  it('names a button that has another effect', () => {
    expect(changeText(later, preview('passes', 'Posts this once.'))).toBe(
      'the button was “Approve for later” and is now “Approve and execute”.',
    );
  });

  it('is no change if only times or details changed', () => {
    expect(changeText(later, { ...later })).toBeUndefined();
  });

  it('is a change if other things happen, unless the operator typed something', () => {
    const other = preview('blocks', 'The agent gets this reason.');
    expect(changeText(later, other)).toMatch(/^what happens/);
    expect(changeText(later, other, false)).toBeUndefined();
  });

  it('is a change if the state is another one, or if it became impossible', () => {
    expect(changeText(later, { ...later, version: 'other' }, false)).toMatch(/^the state/);
    expect(changeText(later, { ...later, refused: 'It has expired.' })).toMatch(/^it is not/);
  });
});
