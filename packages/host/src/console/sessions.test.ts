import { describe, expect, it, vi } from 'vitest';
import { cookieName, readCookie, sessionCookie, Sessions } from './sessions.js';

const started = () => {
  const clock = { now: 0 };
  return { clock, sessions: new Sessions(() => clock.now) };
};

describe('sessions', () => {
  it('begin with a code that works once, within ten minutes', () => {
    const { clock, sessions } = started();
    const { code } = sessions.createLink('ana');
    const { id } = sessions.signIn(code)!;
    expect(sessions.get(id)).toMatchObject({ name: 'ana' });
    expect(sessions.signIn(code)).toBeUndefined();
    const late = sessions.createLink('ben');
    clock.now += 600_000;
    expect(sessions.signIn(late.code)).toBeUndefined();
  });

  it('end after twelve hours, and tell the event streams', () => {
    const { clock, sessions } = started();
    const { id } = sessions.signIn(sessions.createLink('ana').code)!;
    const onEnd = vi.fn();
    sessions.onEnd(id, onEnd);
    clock.now += 12 * 3_600_000 - 1;
    expect(sessions.get(id)).toBeDefined();
    clock.now += 1;
    expect(sessions.get(id)).toBeUndefined();
    expect(onEnd).toHaveBeenCalledTimes(1);
  });

  it('are bounded: the oldest is signed out', () => {
    const { sessions } = started();
    const ids = Array.from(
      { length: 101 },
      () => sessions.signIn(sessions.createLink('a').code)!.id,
    );
    expect(sessions.get(ids[0]!)).toBeUndefined();
    expect(sessions.get(ids[100]!)).toBeDefined();
  });

  it('cannot be guessed: many wrong codes are throttled, for a minute', () => {
    const { clock, sessions } = started();
    for (let n = 0; n < 30; n++) expect(sessions.signIn(`wrong${n}`)).toBeUndefined();
    expect(sessions.isThrottled).toBe(true);
    clock.now += 60_001;
    expect(sessions.isThrottled).toBe(false);
  });
});

describe('the cookie', () => {
  it('is found among others, whatever they contain', () => {
    const name = cookieName('127.0.0.1:7411');
    expect(name).toBe('toolkeel_console_7411');
    expect(readCookie(`a=b; ${name}=x; c=d`, name)).toBe('x');
    expect(readCookie(`x${name}=x; a="; ${name}=y"`, name)).toBe('y"');
    expect(readCookie(`${name}=`, name)).toBeUndefined();
    expect(readCookie(null, name)).toBeUndefined();
  });

  it('is for the API only, not for scripts and not for other sites', () => {
    expect(sessionCookie('n', 'v', { maxAgeMs: 1500, isSecure: true })).toBe(
      'n=v; Path=/api; Max-Age=1; HttpOnly; SameSite=Strict; Secure',
    );
  });
});
