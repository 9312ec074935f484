import { expect, it, vi } from 'vitest';
import { whenOver } from './when-over.js';

type Source = NonNullable<ConstructorParameters<typeof ReadableStream<Uint8Array>>[0]>;

const streaming = (source: Source) =>
  new Response(new ReadableStream(source), { status: 201, headers: { a: 'b' } });

it('is told at the end of the body, which is the same', async () => {
  const over = vi.fn();
  const response = whenOver(Response.json({ text: 'hi' }, { status: 202 }), over);
  expect(response.status).toBe(202);
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(over).not.toHaveBeenCalled();
  expect(await response.json()).toEqual({ text: 'hi' });
  expect(over).toHaveBeenCalledOnce();
});

it('is told at once where there is no body', () => {
  const over = vi.fn();
  whenOver(new Response(null, { status: 202 }), over);
  expect(over).toHaveBeenCalledOnce();
});

it('is told when a reader gives up, and so is who writes', async () => {
  const [over, cancel] = [vi.fn(), vi.fn()];
  const response = whenOver(streaming({ cancel }), over);
  const reader = response.body?.getReader();
  const read = reader?.read();
  await reader?.cancel('enough');
  expect(await read).toMatchObject({ done: true });
  expect(over).toHaveBeenCalledOnce();
  expect(cancel).toHaveBeenCalledExactlyOnceWith('enough');
});

it('is told when the body fails, and so is the reader', async () => {
  const over = vi.fn();
  const broken = new Error('broken');
  const response = whenOver(streaming({ start: (controller) => controller.error(broken) }), over);
  await expect(response.text()).rejects.toBe(broken);
  expect(over).toHaveBeenCalledOnce();
});
