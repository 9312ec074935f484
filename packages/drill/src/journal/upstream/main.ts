// The upstream as a process of its own: whoever is killed around it, its log tells what happened.
import { appendFileSync } from 'node:fs';
import {
  allWriteFaults,
  type FromUpstream,
  luck,
  startEffectsUpstream,
  type ToUpstream,
  type UpstreamSettings,
  type WriteFault,
} from './server.js';

const settings = JSON.parse(process.argv[2] ?? '{}') as UpstreamSettings;
const random = luck(settings.seed);
const held = new Map<string, () => void>();
const holds = new Map<string, ToUpstream & { readonly kind: 'hold' }>();
const next: WriteFault[] = [];

const tell = (message: FromUpstream): void => void process.send?.(message);

const upstream = await startEffectsUpstream({
  fault: () => {
    const planned = next.shift();
    if (planned !== undefined || random() >= settings.faultRate) return planned;
    return allWriteFaults[Math.floor(random() * allWriteFaults.length)];
  },
  gate: (point, key) => {
    const hold = holds.get(key);
    if (hold?.point !== point) return Promise.resolve();
    if (hold.nth > 1) {
      holds.set(key, { ...hold, nth: hold.nth - 1 });
      return Promise.resolve();
    }
    holds.delete(key);
    tell({ kind: 'held', key });
    return new Promise((resolve) => held.set(key, resolve));
  },
  // Written down before anybody is answered.
  onCommit: (effect) => appendFileSync(settings.log, `${JSON.stringify(effect)}\n`),
});

process.on('message', (message: ToUpstream) => {
  if (message.kind === 'hold') holds.set(message.key, message);
  else if (message.kind === 'fault') next.push(message.fault);
  else if (message.kind === 'go') {
    held.get(message.key)?.();
    held.delete(message.key);
  } else tell({ kind: 'counts', counts: upstream.effects.counts });
});
// Nobody is left to tell.
process.on('disconnect', () => process.exit(0));

tell({ kind: 'listening', url: upstream.url });
