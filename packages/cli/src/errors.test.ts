import { ConfigError, HostError } from '@toolkeel/host';
import { UsageError as SandboxUsageError } from '@toolkeel/sandbox';
import { describe, expect, it } from 'vitest';
import { describeFailure, UsageError } from './errors.js';

const inUse = Object.assign(new Error('listen EADDRINUSE'), { code: 'EADDRINUSE' });

describe('describeFailure', () => {
  it('returns exit code 2 for a usage error', () => {
    expect(describeFailure(new UsageError('no such pack'), false)).toEqual({
      exitCode: 2,
      message: 'no such pack',
    });
    expect(describeFailure(new SandboxUsageError('no such flavour'), false).exitCode).toBe(2);
  });

  it('lists every mistake of a configuration', () => {
    const issue = (pointer: string) => ({ origin: 'a.json', pointer, message: 'is not known.' });
    const { exitCode, message } = describeFailure(
      new ConfigError([issue('/a'), issue('/b')]),
      false,
    );
    expect(exitCode).toBe(2);
    expect(message).toBe(
      'The configuration is invalid:\na.json: /a: is not known.\na.json: /b: is not known.',
    );
  });

  it('advises what to do about a port in use', () => {
    const wrapped = new HostError('cannot listen on 127.0.0.1:7411', { cause: inUse });
    for (const error of [wrapped, inUse]) {
      const { exitCode, message } = describeFailure(error, false);
      expect(exitCode).toBe(1);
      expect(message).toMatch(/choose another port/);
    }
  });

  it('tells a file that cannot be written from a port that cannot be used', () => {
    const denied = { code: 'EACCES', syscall: 'open', path: '/a' };
    const { message } = describeFailure(Object.assign(new Error("open '/a'"), denied), false);
    expect(message).toMatch(/permissions of the file/);
    expect(message).not.toMatch(/port/i);
    const listen = Object.assign(new Error('listen'), { code: 'EACCES', syscall: 'listen' });
    expect(describeFailure(listen, false).message).toMatch(/higher port/);
  });

  it('shows the stack of an unexpected error only in verbose mode', () => {
    const error = new TypeError('x is undefined');
    expect(describeFailure(error, false)).toEqual({
      exitCode: 1,
      message:
        'Unexpected error: x is undefined\nRun the command again with --verbose for the stack trace.',
    });
    expect(describeFailure(error, true).message).toContain('errors.test');
    expect(describeFailure(new UsageError('no'), false).message).not.toContain('errors.test');
    expect(describeFailure('text', false).message).toContain('text');
  });
});
