import type { Bench } from '../contract/harness.fixture.js';
import { historyContract } from '../contract/history.fixture.js';
import { stormContract } from '../contract/storm.fixture.js';
import { storeContract } from '../contract/suite.fixture.js';
import { memoryStore } from './store.js';

async function open(): Promise<Bench> {
  let now = Date.UTC(2026, 0, 1);
  const store = memoryStore({ now: () => now });
  return {
    store,
    another: async () => store,
    advance: async (ms) => void (now += ms),
    close: () => store.close(),
  };
}

storeContract('memory', open);
historyContract('memory', open, 500);
stormContract('memory', open, 50);
