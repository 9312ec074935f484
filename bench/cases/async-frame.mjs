import { defineCase } from '../lib/case.mjs';
import { answers } from '../lib/self-check.mjs';

export default defineCase({
  name: 'one more async function around it',
  make: ({ callee }) => ({ call: async () => await callee() }),
  selfCheck: answers,
});
