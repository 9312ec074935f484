import { ConfigError, HostError } from '@toolkeel/host';
import { UsageError as SandboxUsageError } from '@toolkeel/sandbox';
import { describe, expect, it } from 'vitest';
import { describeFailure, UsageError } from './errors.js';

const taken = Object.assign(new Error('listen EADDRINUSE'), { code: 'EADDRINUSE' });

describe('a failure', () => {
  it('is wrong usage where a word of the command, the configuration or a flag is wrong', () => {
    expect(describeFailure(new UsageError('no such pack'), false)).toEqual({
      exitCode: 2,
      message: 'no such pack',
    });
    expect(describeFailure(new SandboxUsageError('no such flavour'), false).exitCode).toBe(2);
  });

  it('names every mistake of a configuration', () => {
    const issue = (pointer: string) => ({ origin: 'a.json', pointer, message: 'is not known.' });
    const { exitCode, message } = describeFailure(
      new ConfigError([issue('/a'), issue('/b')]),
      false,
    );
    expect(exitCode).toBe(2);
    expect(message).toBe(
      'The configuration cannot be used:\na.json: /a: is not known.\na.json: /b: is not known.',
    );
  });

  it('says what to do about a port that is taken, whoever wanted it', () => {
    const wrapped = new HostError('cannot listen on 127.0.0.1:7411', { cause: taken });
    for (const error of [wrapped, taken]) {
      const { exitCode, message } = describeFailure(error, false);
      expect(exitCode).toBe(1);
      expect(message).toMatch(/choose another port/);
    }
  });

  it('that nobody foresaw is one line and a hint, and a stack only where it was asked for', () => {
    const error = new TypeError('x is undefined');
    expect(describeFailure(error, false)).toEqual({
      exitCode: 1,
      message: 'This was not foreseen: x is undefined\nRun it again with --verbose to see where.',
    });
    expect(describeFailure(error, true).message).toContain('errors.test');
    expect(describeFailure(new UsageError('no'), false).message).not.toContain('errors.test');
    expect(describeFailure('text', false).message).toContain('text');
  });
});
