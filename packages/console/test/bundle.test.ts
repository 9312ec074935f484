import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { files } from '@toolkeel/console';
import { expect, test } from 'vitest';

const names = readdirSync(files(), { recursive: true, encoding: 'utf8' }).filter((name) =>
  /\.\w+$/.test(name),
);
const read = (name: string): string => readFileSync(join(files(), name), 'utf8');
const gzipped = (name: string): number => gzipSync(read(name), { level: 9 }).length;
const sum = (some: readonly string[]): number =>
  some.reduce((total, name) => total + gzipped(name), 0);

const html = read('index.html');
const first = names.filter((name) => name === 'index.html' || html.includes(name));

test('the first page has less than 60 kB, and all of it less than 120 kB, compressed', () => {
  expect(first.length).toBeGreaterThanOrEqual(3);
  expect(sum(first)).toBeLessThan(60_000);
  expect(sum(names)).toBeLessThan(120_000);
});

test('the charts are not part of the first page', () => {
  expect(first.map(read).join('')).not.toContain('u-wrap"');
  expect(names.some((name) => /charts-\w/.test(name))).toBe(true);
});

test('nothing is inline, evaluated or set as HTML, and no address is outside', () => {
  expect(html).not.toMatch(/<style|style=|<script(?![^>]* src=)|\son\w+=/);
  const code = names
    .filter((name) => name.endsWith('.js'))
    .map(read)
    .join('\n');
  // Preact can set HTML if a component asks for it; no component does.
  expect(code.match(/dangerouslySetInnerHTML/g) ?? []).toHaveLength(2);
  expect(code).not.toMatch(/\beval\(|new Function\(|document\.write|insertAdjacentHTML/);
  const addresses = [...(code + html).matchAll(/https?:\/\/[^"'`\s)]+/g)].map(
    ([address]) => address,
  );
  const namespaces = /^http:\/\/www\.w3\.org\//;
  expect(addresses.filter((address) => !namespaces.test(address))).toEqual([]);
});

test('everything but the page itself has a hash in its name', () => {
  const others = names.filter((name) => name !== 'index.html' && name !== 'licenses.json');
  expect(others.filter((name) => !/^assets[\\/].+-[\w-]{8}\.\w+$/.test(name))).toEqual([]);
});

test('the licenses of all included packages are included', () => {
  const licenses = JSON.parse(read('licenses.json')) as { name: string; text: string }[];
  expect(licenses.map(({ name }) => name)).toEqual([
    '@preact/signals',
    '@preact/signals-core',
    'diff',
    'microdiff',
    'preact',
    'uplot',
  ]);
  expect(licenses.filter(({ text }) => !/copyright/i.test(text))).toEqual([]);
});
