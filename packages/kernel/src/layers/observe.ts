import type { Layer } from '../engine/layer.js';
import type { Listener } from '../events.js';

/** Tells a listener what happens to calls. A pipeline without one computes no events at all. */
export function observe(listener: Listener): Layer {
  return { name: 'observe', loop: { listener } };
}
