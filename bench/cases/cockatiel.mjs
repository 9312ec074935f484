import { defineCase } from '../lib/case.mjs';
import { checkCockatiel, cockatielWrap } from '../lib/cockatiel.mjs';

export default defineCase({
  name: 'cockatiel wrap(retry, breaker, timeout)',
  keeps: 'the wrapped policy',
  bundle: (packageFor) => `
    export {
      circuitBreaker, ExponentialBackoff, handleAll, retry, SamplingBreaker, timeout, TimeoutStrategy, wrap,
    } from '${packageFor('cockatiel')}';`,
  make: (context) => cockatielWrap(context),
  selfCheck: checkCockatiel,
});
