import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useTempDir } from '../runtime.fixture.js';
import { checkDataDir, checkNode, checkUpstreams } from './doctor-checks.js';

const dir = useTempDir();

describe('checkDataDir', () => {
  it('accepts a writable directory, and one that can be created', () => {
    expect(checkDataDir(dir())).toMatchObject({ status: 'ok', detail: `${dir()} is writable` });
    const later = join(dir(), 'a', 'b');
    expect(checkDataDir(later)).toMatchObject({ status: 'ok' });
    expect(checkDataDir(later).detail).toContain('will be created');
    expect(existsSync(later)).toBe(false);
  });

  it('fails for a path below a file', () => {
    const file = join(dir(), 'file');
    writeFileSync(file, '');
    expect(checkDataDir(join(file, 'data'))).toMatchObject({
      status: 'fail',
      detail: `${file} is not a directory`,
      advice: expect.stringContaining('TOOLKEEL_DATA_DIR'),
    });
  });

  it('fails if the closest existing directory is not writable', () => {
    const checked: string[] = [];
    const never = (path: string): boolean => checked.push(path) < 0;
    const later = join(dir(), 'a', 'b');
    expect(checkDataDir(later, never)).toMatchObject({ status: 'fail' });
    expect(checked).toEqual([dir()]);
  });
});

describe('checkNode', () => {
  it.each(['20.19.0', '20.20.2', '22.0.0', '24.21.0'])('accepts %s', (version) => {
    expect(checkNode(version)).toMatchObject({ status: 'ok', detail: version });
  });

  it.each(['18.20.0', '20.18.9'])('refuses %s and names the required version', (version) => {
    expect(checkNode(version)).toMatchObject({
      status: 'fail',
      advice: 'Install Node.js 20.19 or newer.',
    });
  });
});

describe('checkUpstreams', () => {
  const good = { name: 'good', ok: true, detail: 'responds' };
  const bad = { name: 'bad', ok: false, detail: 'fails' };

  it('fails for an upstream that its pack needs', () => {
    const findings = checkUpstreams({ stac: { ok: false, detail: '', upstreams: [good, bad] } });
    expect(findings.map(({ status, what }) => [status, what])).toEqual([
      ['ok', 'stac: good'],
      ['fail', 'stac: bad'],
    ]);
  });

  it('warns about an upstream that its pack does not need', () => {
    const findings = checkUpstreams({ stac: { ok: true, detail: '', upstreams: [good, bad] } });
    expect(findings.map(({ status }) => status)).toEqual(['ok', 'warn']);
    expect(findings[1]?.advice).toMatch(/address/);
  });

  it('reports the pack itself if it names no upstreams', () => {
    expect(checkUpstreams({ x: { ok: false, detail: 'no token' } })).toMatchObject([
      { status: 'fail', what: 'x', detail: 'no token' },
    ]);
  });

  it('only warns about a pack that is not configured', () => {
    const health = { ok: false, detail: 'log in', configured: false };
    expect(checkUpstreams({ x: health })).toEqual([
      { status: 'warn', what: 'x', detail: 'log in' },
    ]);
  });
});
