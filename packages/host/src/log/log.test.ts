import { describe, expect, it } from 'vitest';
import { createLog, type LogOptions } from './log.js';

const collect = (options: LogOptions = {}) => {
  let text = '';
  const made = createLog({ ...options, write: (line) => (text += line) });
  const lines = async () => {
    await made.flush();
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  };
  return { ...made, lines };
};

describe('a log', () => {
  it('writes JSON lines with level, time, event and fields, in order', async () => {
    const { log, lines } = collect({ base: { pid: 1 } });
    log('info', 'one', { n: 1 });
    log('error', 'two');
    expect(await lines()).toEqual([
      { level: 'info', time: expect.stringMatching(/^\d{4}-.*Z$/), pid: 1, event: 'one', n: 1 },
      { level: 'error', time: expect.any(String), pid: 1, event: 'two' },
    ]);
  });

  it('left an exit listener behind for each server', async () => {
    const before = process.listenerCount('exit');
    const made = Array.from({ length: 12 }, () => collect());
    expect(process.listenerCount('exit')).toBe(before);
    for (const { log } of made) log('info', 'one');
    expect(process.listenerCount('exit')).toBe(before + 1);
    for (const { lines } of made) expect(await lines()).toHaveLength(1);
    expect(process.listenerCount('exit')).toBe(before);
  });

  it('redacts a stack before it cuts it', async () => {
    const secret = 'secret-'.repeat(100);
    const { log, lines } = collect({ scrub: (text) => text.replaceAll(secret, '[redacted]') });
    log('error', 'failed', { cause: new Error('x'.repeat(3900) + secret) });
    const text = JSON.stringify(await lines());
    expect(text).toContain('[redacted]');
    expect(text).not.toContain('secret-');
  });

  it('omits events below its level', async () => {
    const { log, lines } = collect({ level: 'warn' });
    log('info', 'quiet');
    log('warn', 'loud');
    expect((await lines()).map(({ event }) => event)).toEqual(['loud']);
    const silent = collect({ level: 'silent' });
    silent.log('error', 'nothing');
    expect(await silent.lines()).toEqual([]);
  });

  it('includes the causes of an error, and redacts secrets in them', async () => {
    const { log, lines } = collect({ scrub: (text) => text.replaceAll('hunter2', '***') });
    const cause = new Error('outer', {
      cause: new Error('inner hunter2', { cause: { key: 'hunter2' } }),
    });
    log('error', 'unexpected', { cause, nested: [{ deep: 'hunter2' }] });
    const [line] = await lines();
    expect(line).toMatchObject({
      cause: {
        name: 'Error',
        message: 'outer',
        cause: { message: 'inner ***', cause: { key: '***' } },
      },
      nested: [{ deep: '***' }],
    });
    expect(JSON.stringify(line)).not.toContain('hunter2');
  });

  it('handles values that cannot be serialized', async () => {
    const loop: Record<string, unknown> = {};
    loop['self'] = loop;
    const { log, lines } = collect();
    log('error', 'odd', { cause: loop });
    log('error', 'odd', { cause: Symbol('x') });
    log('error', 'odd', { cause: 10n });
    expect((await lines()).map(({ cause }) => cause)).toEqual([
      'a value that cannot be serialized',
      'Symbol(x)',
      '10',
    ]);
  });
});
