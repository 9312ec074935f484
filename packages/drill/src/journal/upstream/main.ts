// The upstream as a process: its log survives the servers that are killed.
import { appendFileSync } from 'node:fs';
import { seededRandom } from '@toolkeel/kernel/testing';
import {
  type FromUpstream,
  startEffectsUpstream,
  type ToUpstream,
  type UpstreamSettings,
  type WriteFault,
  writeFaults,
} from './server.js';

const settings = JSON.parse(process.argv[2] ?? '{}') as UpstreamSettings;
const random = seededRandom(settings.seed);
const held = new Map<string, () => void>();
const holds = new Map<string, ToUpstream & { readonly kind: 'hold' }>();
const next: WriteFault[] = [];

const send = (message: FromUpstream): void => void process.send?.(message);

const upstream = await startEffectsUpstream({
  fault: () => {
    const planned = next.shift();
    if (planned !== undefined || random() >= settings.faultRate) return planned;
    return writeFaults[Math.floor(random() * writeFaults.length)];
  },
  gate: (point, key) => {
    const hold = holds.get(key);
    if (hold?.point !== point) return Promise.resolve();
    if (hold.nth > 1) {
      holds.set(key, { ...hold, nth: hold.nth - 1 });
      return Promise.resolve();
    }
    holds.delete(key);
    send({ kind: 'held', key });
    return new Promise((resolve) => held.set(key, resolve));
  },
  // Logged before the write is answered.
  onCommit: (effect) => appendFileSync(settings.log, `${JSON.stringify(effect)}\n`),
});

process.on('message', (message: ToUpstream) => {
  if (message.kind === 'hold') holds.set(message.key, message);
  else if (message.kind === 'fault') next.push(message.fault);
  else if (message.kind === 'release') {
    held.get(message.key)?.();
    held.delete(message.key);
  } else send({ kind: 'counts', counts: upstream.effects.counts });
});
process.on('disconnect', () => process.exit(0));

send({ kind: 'listening', url: upstream.url });
