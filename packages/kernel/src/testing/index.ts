export { VirtualClock } from './virtual-clock.js';
export { seededRandom } from './seeded-random.js';
export { fault, ScriptedUpstream } from './scripted-upstream.js';
export type { ScriptedRequest, Step } from './scripted-upstream.js';
export { injectFaults } from './inject-faults.js';
export type { FaultInjection, InjectedFault } from './inject-faults.js';
