import { storeContract } from '../contract/suite.fixture.js';
import { memoryStore } from './store.js';

storeContract('memory', async () => {
  let now = Date.UTC(2026, 0, 1);
  const store = memoryStore({ now: () => now });
  return {
    store,
    another: async () => store,
    advance: async (ms) => void (now += ms),
    close: () => store.close(),
  };
});
