import { describe, expect, it } from 'vitest';
import { Repeats, type Ticket } from './repeats.js';

/** Claims for a call; the journal answers with this operation. Resolves to what the call is separate from. */
async function claim(ticket: Ticket, id: string): Promise<readonly string[]> {
  let seen: readonly string[] = [];
  await ticket.claimBesides((besides) => {
    seen = besides;
    return Promise.resolve({ operation: { id } });
  });
  return seen;
}

describe('an equal call', () => {
  it('is separate from calls whose connections live, and from none that was cancelled', async () => {
    const repeats = new Repeats(() => 0);
    const [one, two, other] = [repeats.enter('a'), repeats.enter('a'), repeats.enter('b')];
    expect(await Promise.all([claim(one, '1'), claim(two, '2'), claim(other, '3')])).toEqual([
      [],
      ['1'],
      [],
    ]);
    two.detached();
    expect(repeats.isInFlight('a')).toBe(true);
    expect(await claim(repeats.enter('a'), '2')).toEqual(['1']);
  });

  it('is separate from a delivered call until the journal knows of the delivery', async () => {
    let now = 0;
    const repeats = new Repeats(() => now);
    const one = repeats.enter('a');
    await claim(one, '1');
    one.delivered();
    expect(repeats.isInFlight('a')).toBe(false);
    const two = repeats.enter('a');
    expect(await claim(two, '2')).toEqual(['1']);
    two.detached();
    now = 60_000;
    expect(await claim(repeats.enter('a'), '2')).toEqual([]);
  });

  it('claims only after the claim of the one before, also if that fails', async () => {
    const repeats = new Repeats(() => 0);
    const [one, two] = [repeats.enter('a'), repeats.enter('a')];
    const order: string[] = [];
    const first = one.claimBesides(async () => {
      await Promise.resolve();
      order.push('one');
      throw new Error('the store failed');
    });
    one.detached();
    const second = two.claimBesides(() => {
      order.push('two');
      return Promise.resolve({ operation: { id: '2' } });
    });
    await expect(first).rejects.toThrow('the store failed');
    await second;
    expect(order).toEqual(['one', 'two']);
  });
});
