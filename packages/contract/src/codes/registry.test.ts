import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { envelopeSchema } from '../envelope/schema.js';
import { toolFailure } from '../envelope/tool-failure.js';
import { runTool } from '../run/run-tool.js';
import type { Middleware } from '../run/options.js';
import { defineTool } from '../tool/define.js';
import { toolError } from '../tool/result.js';
import {
  type CodeDefinition,
  isErrorCode,
  isRecoverable,
  isRetryable,
  registerCodes,
} from './registry.js';
import { errorCodes } from './table.js';

const locked = { retryable: false, description: 'The vault is locked' } as const;
const codes = registerCodes('vault', {
  vault_locked: { ...locked, outcome: 'not_executed' },
  vault_busy: { retryable: true, description: 'The vault is in use' },
  vault_unpaid: { retryable: false, description: 'The rent is due', class: 'governance' },
});

const store = {
  name: 'store_coin',
  description: 'Stores a coin.',
  effect: 'once',
  input: z.object({ coin: z.string() }),
} as const;

const run = async (handler: () => object, middleware?: Middleware) =>
  (await runTool(defineTool({ ...store, handler }), { coin: 'a' }, { middleware })).envelope;

describe('a registered code', () => {
  it('has the registered meaning', async () => {
    expect(codes).toEqual({
      vault_locked: 'vault_locked',
      vault_busy: 'vault_busy',
      vault_unpaid: 'vault_unpaid',
    });
    expect(Object.values(codes).map(isRetryable)).toEqual([false, true, false]);
    expect(Object.values(codes).map(isRecoverable)).toEqual([false, true, true]);
    const failed = await run(() => toolError('vault_unpaid', 'Pay first.'));
    expect(failed.success || toolFailure(failed, 0)).toMatchObject({
      class: 'governance',
      code: 'vault_unpaid',
      retryable: false,
    });
    expect(envelopeSchema.safeParse(failed).success).toBe(true);
  });

  it('may prove that nothing was executed', async () => {
    expect(await run(() => toolError('vault_locked', 'Unlock it.'))).toMatchObject({
      error: { code: 'vault_locked', outcome: 'not_executed' },
    });
    expect(() => toolError('vault_locked', 'x', { outcome: 'executed' })).toThrow('not_executed');
    const unknown = () => toolError('vault_busy', 'x', { outcome: 'unknown' });
    expect(await run(unknown)).toMatchObject({
      error: { code: 'outcome_unknown', details: { cause_code: 'vault_busy' } },
    });
  });

  it('has any details that are JSON', () => {
    const details = { by: ['a'], since: null };
    expect(toolError('vault_busy', 'x', { details }).input.details).toEqual(details);
    const since = new Date();
    expect(() => toolError('vault_busy', 'x', { details: { since } })).toThrow('details.since');
  });

  it('can be registered twice with the same meaning only', () => {
    expect(
      registerCodes('safe', {
        vault_busy: { retryable: true, description: 'The vault is in use' },
      }),
    ).toEqual({ vault_busy: 'vault_busy' });
    expect(() => registerCodes('safe', { safe_lost: locked, vault_busy: { ...locked } })).toThrow(
      'error code "vault_busy" of pack safe: pack vault has registered it with a different meaning',
    );
    expect(isErrorCode('safe_lost')).toBe(false);
  });

  it.each<[problem: string, code: string, definition: Partial<CodeDefinition>]>([
    ['the contract defines', 'not_found', locked],
    ['the contract defines', 'x_api_error', locked],
    ['the name', 'Vault', locked],
    ['the name', 'vault locked', locked],
    ['the name', '__proto__x', locked],
    ['retryable', 'vault_a', { description: 'x' }],
    ['description', 'vault_a', { retryable: true, description: '' }],
    ['description', 'vault_a', { retryable: true, description: 'a\nb' }],
    ['outcome', 'vault_a', { ...locked, outcome: 'executed' as 'not_executed' }],
    ['class', 'vault_a', { ...locked, class: 'other' as 'capability' }],
  ])('is refused: %s (%s)', (problem, code, definition) => {
    const register = () => registerCodes('vault', { [code]: definition as CodeDefinition });
    expect(register).toThrow(`error code "${code}" of pack vault: ${problem}`);
    expect(isErrorCode(code)).toBe(code === 'not_found' || code === 'x_api_error');
  });
});

describe('a code that is not registered', () => {
  const replay: Middleware = async () => ({
    ok: false,
    error: { code: 'gone_busy', message: 'Later.', outcome: 'not_executed', details: { a: 1 } },
    idempotency: { replayed: true },
  });

  it('cannot be created', () => {
    expect(() => toolError('vault_lokced', 'x')).toThrow('unknown error code vault_lokced');
    expect(isRetryable('vault_lokced')).toBe(false);
    expect(isRecoverable('vault_lokced')).toBe(false);
  });

  it('is replayed as it was stored, and not retryable', async () => {
    const envelope = await run(() => ({}), replay);
    expect(envelope).toMatchObject({
      success: false,
      error: { code: 'gone_busy', message: 'Later.', retryable: false, details: { a: 1 } },
    });
    expect(envelope.success || toolFailure(envelope, 0)).toMatchObject({ class: 'capability' });
    expect(envelopeSchema.safeParse(envelope).success).toBe(true);
  });

  it('is an internal error if it is not a replay', async () => {
    const fresh: Middleware = async (call, next) => ({
      ...(await replay(call, next)),
      idempotency: undefined,
    });
    expect(await run(() => ({}), fresh)).toMatchObject({ error: { code: 'internal_error' } });
  });
});

it('the built-in codes that an operator or the caller can lift are these', () => {
  const recoverable = errorCodes.filter((code) => isRecoverable(code) && !isRetryable(code));
  expect(recoverable).toEqual([
    'x_auth_expired',
    'x_forbidden',
    'x_account_restricted',
    'x_not_configured',
    'llm_not_configured',
    'policy_denied_blocked',
    'policy_denied_rate_limited',
    'policy_denied_hard_rule',
    'policy_denied_user_rule',
    'unauthorized',
    'forbidden',
    'cancelled',
    'dry_run',
  ]);
});
