/**
 * The test kit of packs: an upstream on a real socket, a rig that runs tools, and checks of every tool.
 *
 * @module
 */
export { echoes, type Echo } from './echoes.js';
export {
  startScriptedUpstream,
  type Handler,
  type ReceivedRequest,
  type Reply,
  type ScriptedUpstream,
} from './scripted-upstream.js';
export { recordingJournal, type RecordingJournal } from './recording-journal.js';
export { createPackRig, type PackRig } from './pack-rig.js';
export { argumentsOf, fuzzTools, type FuzzOptions } from './fuzz.js';
export {
  baseCodeOf,
  faultMatrix,
  upstreamFaults,
  type FaultCell,
  type FaultMatrixOptions,
  type UpstreamFault,
} from './fault-matrix.js';
export { observeCodes, type CodeObserver } from './observe-codes.js';
