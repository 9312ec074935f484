import { expect } from 'vitest';

// Vitest types its matchers as any; in a test of types that would hide what is tested.
export const containing = (text: string): unknown => expect.stringContaining(text);
export const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);
export const including = (items: readonly unknown[]): unknown => expect.arrayContaining([...items]);
export const like = (value: object): unknown => expect.objectContaining(value);
export const some = (type: unknown): unknown => expect.any(type);
