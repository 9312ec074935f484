import { defineCase } from '../lib/case.mjs';
import { checkComposition, composition, kernel } from '../lib/toolkeel.mjs';

export default defineCase({
  name: 'retry + deadline + breaker + budget + counters',
  keeps: 'the guarded function, its pipeline and five layers',
  bundle: () => `export { breaker, budget, compose, counters, deadline, retry } from '${kernel}';`,
  make: ({ callee }) => composition(callee),
  selfCheck: checkComposition,
});
