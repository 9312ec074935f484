import { useEffect, useRef } from 'preact/hooks';
import { shortcutsOn } from './settings.js';

/** By key, or by two keys in sequence: `g n`. */
export type KeyMap = Readonly<Record<string, () => void>>;

const layers: { current: KeyMap }[] = [];

/** Single keys only, and never while the operator types or a dialog is open. */
const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName));

const SEQUENCE_MS = 1500;

export function startKeys(): void {
  let first = { key: '', at: -Infinity };
  addEventListener('keydown', (event) => {
    if (!shortcutsOn.value || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isTyping(event.target) || document.querySelector('dialog[open]')) return;
    const isSequence = event.timeStamp - first.at < SEQUENCE_MS;
    const key = isSequence ? `${first.key} ${event.key}` : event.key;
    first = { key: event.key, at: event.key === 'g' ? event.timeStamp : -Infinity };
    const action = layers.map(({ current }) => current[key]).findLast(Boolean);
    if (!action) return;
    // A button or link keeps its own Enter.
    if (
      event.key === 'Enter' &&
      event.target instanceof Element &&
      event.target.matches('a, button')
    )
      return;
    event.preventDefault();
    action();
  });
}

/** Shortcuts of a page, as long as it is shown. */
export function useKeys(keys: KeyMap): void {
  const layer = useRef(keys);
  layer.current = keys;
  useEffect(() => {
    layers.push(layer);
    return () => void layers.splice(layers.indexOf(layer), 1);
  }, []);
}
