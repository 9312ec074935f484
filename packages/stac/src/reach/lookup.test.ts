import type { LookupAddress } from 'node:dns';
import { describe, expect, it } from 'vitest';
import { checkedLookup, lookupWith, type Resolve } from './lookup.js';

const v4 = (address: string): LookupAddress => ({ address, family: 4 });

type Answer = { error: Error | null; address: string | LookupAddress[] };

const ask = (resolve: Resolve, options: { all?: boolean; family?: number } = {}, check = true) =>
  new Promise<Answer>((done) => {
    const lookup = check ? checkedLookup(resolve) : lookupWith(resolve);
    lookup('stac.example', options, (error, address) => done({ error, address }));
  });

describe('a checked lookup', () => {
  it('gives the address that it has checked, after one question', async () => {
    const answers = [[v4('93.184.216.34')], [v4('127.0.0.1')]];
    let asked = 0;
    const answer = await ask(async () => answers[asked++]!);
    expect(answer).toEqual({ error: null, address: '93.184.216.34' });
    expect(asked).toBe(1);
  });

  it('gives all of them where all are asked for', async () => {
    const both = [v4('93.184.216.34'), { address: '2606:4700::1', family: 6 }];
    const { address } = await ask(async () => both, { all: true });
    expect(address).toEqual(both);
    expect((await ask(async () => both, { family: 6 })).address).toBe('2606:4700::1');
  });

  it('refuses a name of which one address is private', async () => {
    const { error } = await ask(async () => [v4('93.184.216.34'), v4('10.0.0.7')], { all: true });
    expect(error?.name).toBe('TargetRefused');
    expect(error?.message).not.toContain('10.0.0.7');
  });

  it('says that a name has no address', async () => {
    const { error } = await ask(async () => []);
    expect(error).toMatchObject({ code: 'ENOTFOUND' });
  });

  it('passes the resolver’s own error on', async () => {
    const failure = Object.assign(new Error('try again'), { code: 'EAI_AGAIN' });
    const { error } = await ask(async () => {
      throw failure;
    });
    expect(error).toBe(failure);
  });

  it('lets a trusted name be private', async () => {
    expect((await ask(async () => [v4('10.0.0.7')], {}, false)).address).toBe('10.0.0.7');
  });
});
