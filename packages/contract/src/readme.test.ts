import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { demo } from './readme.fixture.js';

const textOf = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');

it('README.md contains the example', () => {
  expect(textOf('../README.md')).toContain(`\`\`\`ts\n${textOf('./readme.fixture.ts')}\`\`\`\n`);
});

it('the example behaves as its comments say', async () => {
  const { first, second, failed, refused, failure } = await demo();
  expect(first.text).toMatch(
    /^\{"success":true,"data":\{"titles":\["Emma","Middlemarch"\]\},"meta":\{/,
  );
  expect(first.envelope.meta.pagination).toMatchObject({ result_count: 2, has_more: true });
  expect(second.envelope.data).toEqual({ titles: ['Persuasion', 'Villette'] });
  expect(failed.envelope.error?.code).toBe('not_found');
  expect(refused.envelope.error?.code).toBe('validation_error');
  expect(failure).toMatchObject({ class: 'capability', code: 'not_found', retryable: false });
});
