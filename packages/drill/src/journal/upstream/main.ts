// The upstream as a process of its own: whoever is killed around it, its log tells what happened.
import { appendFileSync } from 'node:fs';
import { allWriteFaults, luck, type WriteFault } from './fault.js';
import type { FromUpstream, ToUpstream, UpstreamSettings } from './messages.js';
import { startEffectsUpstream } from './server.js';

const settings = JSON.parse(process.argv[2] ?? '{}') as UpstreamSettings;
const random = luck(settings.seed);
const held = new Map<number, () => void>();
const next: WriteFault[] = [];
let gates: ToUpstream & { readonly kind: 'gates' } = { kind: 'gates', points: [] };
let holding = 0;

const tell = (message: FromUpstream): void => void process.send?.(message);

const upstream = await startEffectsUpstream({
  fault: () => {
    const planned = next.shift();
    if (planned !== undefined || random() >= settings.faultRate) return planned;
    return allWriteFaults[Math.floor(random() * allWriteFaults.length)];
  },
  gate: (point, key) => {
    if (!gates.points.includes(point)) return Promise.resolve();
    holding += 1;
    const id = holding;
    tell({ kind: 'held', point, key, id });
    return new Promise((resolve) => held.set(id, resolve));
  },
  // Written down before anybody is answered.
  onCommit: (effect) => appendFileSync(settings.log, `${JSON.stringify(effect)}\n`),
});

process.on('message', (message: ToUpstream) => {
  if (message.kind === 'gates') gates = message;
  else if (message.kind === 'fault') next.push(message.fault);
  else if (message.kind === 'go') {
    held.get(message.id)?.();
    held.delete(message.id);
  } else tell({ kind: 'counts', counts: upstream.effects.counts });
});
// Nobody is left to tell.
process.on('disconnect', () => process.exit(0));

tell({ kind: 'listening', url: upstream.url });
