import { describe, it } from 'vitest';
import { storm } from './fixtures/storm.fixture.js';

describe('a storm', () => {
  it('finds nothing', async () => {
    const from = Number(process.env['S'] ?? 1);
    for (let seed = from; seed < from + Number(process.env['N'] ?? 20); seed += 1) {
      const t = performance.now();
      const r = await storm(seed);
      const bad = [...r.duplicates, ...r.late, ...r.lies, ...r.limbo, ...r.couldKnow];
      if (bad.length) console.log(seed, JSON.stringify(r), Math.round(performance.now() - t));
      if (seed % 50 == 1)
        console.log(
          seed,
          r.calls,
          r.kills,
          r.effects,
          r.unknowns,
          Math.round(performance.now() - t),
        );
    }
  }, 600000);
});
