import { defineCase } from '../lib/case.mjs';
import { checkCockatiel, cockatielWrap } from '../lib/cockatiel.mjs';

export default defineCase({
  name: 'cockatiel wrap, with abortOnReturn: false',
  make: (context) => cockatielWrap(context, { abortOnReturn: false }),
  selfCheck: checkCockatiel,
});
