import { expect } from 'vitest';

// Vitest types its matchers as any, which would hide type errors in tests.
export const containing = (text: string): unknown => expect.stringContaining(text);
export const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);
export const including = (items: readonly unknown[]): unknown => expect.arrayContaining([...items]);
export const like = (value: object): unknown => expect.objectContaining(value);
export const some = (type: unknown): unknown => expect.any(type);
