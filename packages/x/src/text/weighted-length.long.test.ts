import { it } from 'vitest';
import { expectAgreement } from './oracle.fixture.js';

it('agrees with twitter-text on very much generated text', () => {
  expectAgreement(400_000);
});
