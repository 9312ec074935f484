import { defineCase } from '../lib/case.mjs';
import { answers } from '../lib/self-check.mjs';

export default defineCase({
  name: 'Promise.race with a promise that never settles',
  make: ({ callee }) => ({ call: () => Promise.race([callee(), new Promise(() => {})]) }),
  selfCheck: answers,
});
