import { describe, expect, it } from 'vitest';
import { toToolError } from '../faults.js';
import { checkDraft, type Draft } from './draft.js';

const config = { maxPostLength: 280, tier: 'enterprise' } as const;

function refusalOf(draft: Draft, index?: number) {
  try {
    return checkDraft(draft, config, index);
  } catch (cause) {
    return toToolError(cause)?.input;
  }
}

const poll = (...options: string[]) => ({ options, duration_minutes: 60 });

describe('a draft', () => {
  it.each(['', '  \n', '\u200B', '\u200B\u2060 \u200D', '\u00AD', '\uFE0F'])(
    'that shows nothing is refused: %j',
    (text) => {
      expect(refusalOf({ text })).toMatchObject({
        code: 'invalid_input',
        outcome: 'not_executed',
        details: { field: 'text' },
      });
      expect(refusalOf({ text }, 2)).toMatchObject({ details: { field: 'tweets[2]' } });
      expect(refusalOf({ text: 'a', poll: poll('yes', text) })).toMatchObject({
        code: 'invalid_input',
        details: { field: 'poll' },
      });
      expect(refusalOf({ text, mediaIds: ['1'] })).toBeUndefined();
    },
  );

  it.each(['a', '語', '👩\u200D🚀', '\u200Ba', '.'])('that shows something is not: %j', (text) => {
    expect(refusalOf({ text, poll: poll('yes', text) })).toBeUndefined();
  });

  it('names what is wrong with it', () => {
    const both = { text: 'a', poll: poll('yes', 'no'), mediaIds: ['1'] };
    expect(refusalOf(both)).toMatchObject({ details: { field: 'poll' } });
    const twice = { text: 'a', mediaIds: ['1', '1'] };
    expect(refusalOf(twice)).toMatchObject({ details: { field: 'media_ids' } });
    expect(refusalOf(twice, 1)).toMatchObject({ details: { field: 'media_ids[1]' } });
  });
});
