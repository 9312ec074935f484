import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { linksOf, linkTo, resolveLink } from './links.js';

describe('links', () => {
  it('are parsed from any JSON', () => {
    const doc = {
      links: [
        null,
        'x',
        { rel: 'self' },
        { href: 'x' },
        {
          rel: 'next',
          href: 'n',
          method: 'post',
          merge: true,
          body: { a: 1 },
          headers: { b: 'c' },
        },
      ],
    };
    expect(linksOf(doc)).toEqual([
      {
        rel: 'next',
        href: 'n',
        method: 'POST',
        merge: true,
        body: { a: 1 },
        headers: { b: 'c' },
        type: undefined,
        title: undefined,
      },
    ]);
    fc.assert(
      fc.property(fc.jsonValue(), (links) => {
        expect(Array.isArray(linksOf({ links }))).toBe(true);
      }),
    );
  });

  it('prefer JSON among several with one relation, under its short or long name', () => {
    const rel = 'http://www.opengis.net/def/rel/ogc/1.0/queryables';
    const links = [
      { rel, href: 'page.html', type: 'text/html' },
      { rel: 'queryables', href: 'q', type: 'application/schema+json' },
    ];
    expect(linkTo({ links }, 'queryables')?.href).toBe('q');
    expect(linkTo({ links: links.slice(0, 1) }, 'queryables')?.href).toBe('page.html');
  });

  it.each([
    ['search', 'https://a.example/v1/', 'https://a.example/v1/search'],
    ['./search', 'https://a.example/v1/x', 'https://a.example/v1/search'],
    ['../catalog.json', 'https://a.example/v1/x/y.json', 'https://a.example/v1/catalog.json'],
    ['/search?token=a%0Ab', 'https://a.example/v1', 'https://a.example/search?token=a%0Ab'],
    ['//b.example/x', 'https://a.example/', 'https://b.example/x'],
    ['?page=2', 'https://a.example/v1/search?page=1', 'https://a.example/v1/search?page=2'],
    ['http://a.example/x', 'https://a.example/y', 'https://a.example/x'],
    ['http://b.example/x', 'https://a.example/y', 'http://b.example/x'],
  ])('%s from %s resolves to %s', (href, base, target) => {
    expect(resolveLink(href, new URL(base)).href).toBe(target);
  });
});
