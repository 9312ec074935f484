import { EventEmitter } from 'node:events';
import { expect, it, vi } from 'vitest';
import { stopSignal } from './signals.js';

const source = () => Object.assign(new EventEmitter(), { pid: 42, kill: vi.fn() });

const isSettled = async (promise: Promise<void>): Promise<boolean> => {
  const pending = Symbol('pending');
  return (await Promise.race([promise, Promise.resolve(pending)])) !== pending;
};

it.each(['SIGINT', 'SIGTERM'] as const)('%s stops gracefully', async (signal) => {
  const target = source();
  const { stopped, received } = stopSignal(target, () => 0);
  expect(await isSettled(stopped)).toBe(false);
  expect(received()).toBeUndefined();
  target.emit(signal, signal);
  await stopped;
  expect(received()).toBe(signal);
  expect(target.kill).not.toHaveBeenCalled();
});

it('ignores a forwarded duplicate of the first signal', () => {
  const target = source();
  let now = 0;
  stopSignal(target, () => now);
  target.emit('SIGINT', 'SIGINT');
  now = 100;
  target.emit('SIGINT', 'SIGINT');
  expect(target.kill).not.toHaveBeenCalled();
});

it('re-raises a second signal with the default handler', () => {
  const target = source();
  let now = 0;
  stopSignal(target, () => now);
  target.emit('SIGINT', 'SIGINT');
  now = 600;
  target.emit('SIGTERM', 'SIGTERM');
  expect(target.kill.mock.calls).toEqual([[42, 'SIGTERM']]);
  // Without a listener the signal has its default effect.
  expect(target.listenerCount('SIGTERM') + target.listenerCount('SIGINT')).toBe(0);
});

it('leaves no listener after its release, except for copies of a signal that has arrived', () => {
  const target = source();
  const first = stopSignal(target, () => 0);
  first.release();
  expect(target.listenerCount('SIGTERM') + target.listenerCount('SIGINT')).toBe(0);
  const second = stopSignal(target, () => 0);
  target.emit('SIGINT', 'SIGINT');
  second.release();
  target.emit('SIGINT', 'SIGINT');
  expect(target.listenerCount('SIGINT')).toBe(1);
  expect(target.kill).not.toHaveBeenCalled();
});
