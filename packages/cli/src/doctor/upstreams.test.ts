import { expect, it } from 'vitest';
import { upstreamFindings } from './upstreams.js';

const good = { name: 'good', ok: true, detail: 'answers' };
const bad = { name: 'bad', ok: false, detail: 'fails' };

it('an upstream that fails is worth repairing where its pack needs it', () => {
  const findings = upstreamFindings({ stac: { ok: false, detail: '', upstreams: [good, bad] } });
  expect(findings.map(({ status, what }) => [status, what])).toEqual([
    ['ok', 'stac: good'],
    ['fail', 'stac: bad'],
  ]);
});

it('and worth knowing where it does not', () => {
  const findings = upstreamFindings({ stac: { ok: true, detail: '', upstreams: [good, bad] } });
  expect(findings.map(({ status }) => status)).toEqual(['ok', 'warn']);
  expect(findings[1]?.advice).toMatch(/address/);
});

it('a pack that names no upstreams speaks for itself', () => {
  expect(upstreamFindings({ x: { ok: false, detail: 'no token' } })).toMatchObject([
    { status: 'fail', what: 'x', detail: 'no token' },
  ]);
});

it('a pack that nobody configured has nothing to repair', () => {
  const health = { ok: false, detail: 'log in', configured: false };
  expect(upstreamFindings({ x: health })).toEqual([
    { status: 'warn', what: 'x', detail: 'log in' },
  ]);
});
