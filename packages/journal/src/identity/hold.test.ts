import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toolNamed } from '../fixtures/tools.fixture.js';
import { holdMsOf } from './hold.js';
import { checkTemplates, keylessTools } from './keyless.js';

const MONTH = 30 * 86_400_000;

describe('how long a settled operation holds its slot', () => {
  it.each<[string, 'key' | 'template' | 'content', string, number]>([
    ['a key: as long as the result is kept', 'key', 'post', MONTH],
    ['a key of a tool that may be repeated, too', 'key', 'touch', MONTH],
    ['a template: as long as the result is kept', 'template', 'reply', MONTH],
    ['a template of a tool with a window: so long', 'template', 'like', 30_000],
    ['content: half a minute', 'content', 'post', 30_000],
    ['content of what may be repeated: not at all', 'content', 'touch', 0],
    ['what undoes something: not at all', 'content', 'unlike', 0],
    ['not even where a template names it', 'template', 'delete', 0],
  ])('%s', (_, by, tool, expected) => {
    expect(holdMsOf(by, toolNamed(tool), MONTH)).toBe(expected);
  });

  it('is never longer than results are kept', () => {
    const tools = ['post', 'like', 'reply', 'unlike'].map(toolNamed);
    fc.assert(
      fc.property(
        fc.constantFrom(...tools),
        fc.constantFrom('key' as const, 'template' as const, 'content' as const),
        fc.nat(),
        (tool, by, retention) => {
          const hold = holdMsOf(by, tool, retention);
          expect(hold).toBeGreaterThanOrEqual(0);
          expect(hold).toBeLessThanOrEqual(retention);
        },
      ),
    );
  });
});

describe('templates', () => {
  const specs = ['post', 'reply', 'like', 'pay'].map(toolNamed);

  it('are missed where a tool acts once and has only its content', () => {
    expect(keylessTools(specs)).toEqual(['post', 'pay']);
    expect(keylessTools(specs, { pay: 'pay:{amount}' })).toEqual(['post']);
  });

  it.each([
    [{ tweet: 'x:{text}' }, 'there is no such tool'],
    [{ post: 'always the same' }, 'must name an argument'],
    [{ post: 'post:{title}' }, 'title is not an argument'],
    [{ pay: 'pay:{card}' }, 'card is sensitive'],
  ])('that could never give a key are refused: %j', (templates, problem) => {
    expect(() => checkTemplates(templates, specs)).toThrow(problem);
  });

  it('of the configuration may name any argument that is stored in clear', () => {
    expect(() => checkTemplates({ pay: 'pay:{amount}', post: 'p:{text}' }, specs)).not.toThrow();
  });
});
