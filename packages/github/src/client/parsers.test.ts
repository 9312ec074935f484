import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GitHubError } from './faults.js';
import { graphqlOperations, isReadOnly } from './graphql-operation.js';
import { linkOf } from './link.js';
import { hasMarker, withMarker, withoutMarkers } from './markers.js';

describe('graphqlOperations', () => {
  it.each([
    ['{ a }', ['query']],
    ['query { a }', ['query']],
    ['query Q($a: Int = 1, $b: [String!]! = ["{"]) @x(y: "}") { a(b: {c: 1}) { d } }', ['query']],
    ['mutation M { a } query Q { b }', ['mutation', 'query']],
    ['fragment F on T { a } { b ...F }', ['query']],
    ['# mutation { a }\n{ b }', ['query']],
    ['{ a(b: "mutation {") }', ['query']],
    ['{ a(b: """ } mutation { \\""" """) }', ['query']],
    ['\uFEFF subscription { a }', ['subscription']],
    ['{ mutation: a }', ['query']],
  ])('%s', (document, kinds) => expect(graphqlOperations(document)).toEqual(kinds));

  it.each([
    '',
    'a',
    '{',
    '}',
    '{ a } }',
    'query',
    '( a )',
    'fragment F on T { a }',
    '{ a ` }',
    '"',
  ])('is unsure about %j', (document) => expect(graphqlOperations(document)).toBeUndefined());

  it('never takes a document with a mutation definition for read-only', () => {
    const noise = fc.constantFrom(
      ' ',
      '\n',
      ',',
      '# x\n',
      '{ a }',
      'query { b }',
      'fragment F on T { a }',
    );
    fc.assert(
      fc.property(fc.array(noise), fc.array(noise), (before, after) => {
        const document = [...before, 'mutation { c }', ...after].join(' ');
        expect(isReadOnly(document)).toBe(false);
      }),
    );
  });

  it('ends on any input', () => {
    fc.assert(fc.property(fc.string({ maxLength: 300 }), (text) => void graphqlOperations(text)));
  });
});

describe('linkOf', () => {
  it('returns the URL exactly as written', () => {
    const header =
      '<https://api.github.com/x?after=Y3Vyc29yOg%3D%3D&per_page=2>; rel="next", <https://api.github.com/x?a=1,2&page=9>; rel="last"';
    expect(linkOf(header, 'next')).toBe(
      'https://api.github.com/x?after=Y3Vyc29yOg%3D%3D&per_page=2',
    );
    expect(linkOf(header, 'last')).toBe('https://api.github.com/x?a=1,2&page=9');
    expect(linkOf(header, 'prev')).toBeUndefined();
    expect(linkOf(undefined, 'next')).toBeUndefined();
  });

  it('finds a link that it was given, whatever surrounds it', () => {
    fc.assert(
      fc.property(fc.webUrl({ size: 'xsmall' }), fc.string(), (url, noise) => {
        expect(linkOf(`<${url}>; rel="next"`, 'next')).toBe(url);
        void linkOf(noise, 'next');
      }),
      // Most of the time goes into generating URLs.
      { numRuns: 20 },
    );
  });
});

describe('markers', () => {
  it('are found by their id, and removed from what is shown', () => {
    fc.assert(
      fc.property(fc.string(), fc.uuid(), fc.uuid(), (body, id, other) => {
        const marked = withMarker(body, id);
        expect(hasMarker(marked, id)).toBe(true);
        expect(hasMarker(marked, other)).toBe(id === other);
        expect(withoutMarkers(marked)).toBe(withoutMarkers(body));
      }),
    );
  });
});

describe('the permissions that a rejection names', () => {
  const permissionsOf = (header: string) => {
    const headers = { 'x-accepted-github-permissions': header };
    const url = new URL('https://api.github.com/');
    return new GitHubError({ status: 403, headers, url, json: {} }).permissions;
  };

  it('are kept, and nothing else that the header may contain', () => {
    const given = 'issues=write; pull_requests=read,contents=read';
    expect(permissionsOf(given)).toBe(given);
    expect(permissionsOf('ghp_abcdefghijklmnopqrstuvwxyz0123456789')).toBeUndefined();
    expect(permissionsOf('issues=write; ghp_abcdefghijklmnopqrstuvwxyz')).toBeUndefined();
  });
});
