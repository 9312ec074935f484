import { expect, test, vi } from 'vitest';

vi.stubGlobal('location', { pathname: '/', search: '' });
const { match, withQuery } = await import('./router.js');
vi.unstubAllGlobals();

test('a path matches its pattern, and its parameters are decoded', () => {
  expect(match('/calls/:id', '/calls/a%20b')).toEqual({ id: 'a b' });
  expect(match('/calls/:id', '/calls/7/')).toEqual({ id: '7' });
  expect(match('/', '/')).toEqual({});
  expect(match('/calls', '/tools')).toBeUndefined();
  expect(match('/calls/:id', '/calls')).toBeUndefined();
  expect(match('/calls/:id', '/calls/%E0%A4%A')).toBeUndefined();
});

test('an empty filter leaves the address', () => {
  const query = new URLSearchParams('tool=a&code=ok');
  expect(withQuery(query, { code: 'failed', q: 'x y' })).toBe('?tool=a&code=failed&q=x+y');
  expect(withQuery(query, { tool: '', code: '' })).toBe('');
  expect(query.toString()).toBe('tool=a&code=ok');
});
