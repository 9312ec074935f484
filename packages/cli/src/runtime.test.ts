import { EventEmitter } from 'node:events';
import { expect, it, vi } from 'vitest';
import { firstSignal } from './runtime.js';

const source = () => Object.assign(new EventEmitter(), { pid: 42, kill: vi.fn() });

const isSettled = async (promise: Promise<void>): Promise<boolean> => {
  const pending = Symbol('pending');
  return (await Promise.race([promise, Promise.resolve(pending)])) !== pending;
};

it.each(['SIGINT', 'SIGTERM'] as const)('%s stops in peace', async (signal) => {
  const target = source();
  const stopped = firstSignal(target, () => 0);
  expect(await isSettled(stopped)).toBe(false);
  target.emit(signal, signal);
  await stopped;
  expect(target.kill).not.toHaveBeenCalled();
});

it('takes what npm passes on for the same press of a key', () => {
  const target = source();
  let now = 0;
  void firstSignal(target, () => now);
  target.emit('SIGINT', 'SIGINT');
  now = 100;
  target.emit('SIGINT', 'SIGINT');
  expect(target.kill).not.toHaveBeenCalled();
});

it('ends at once at the second press, by the signal itself', () => {
  const target = source();
  let now = 0;
  void firstSignal(target, () => now);
  target.emit('SIGINT', 'SIGINT');
  now = 600;
  target.emit('SIGTERM', 'SIGTERM');
  expect(target.kill.mock.calls).toEqual([[42, 'SIGTERM']]);
  // Nobody listens any more, so that the signal does what it does by default.
  expect(target.listenerCount('SIGTERM') + target.listenerCount('SIGINT')).toBe(0);
});
