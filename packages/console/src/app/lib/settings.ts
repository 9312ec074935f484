import { effect, signal } from '@preact/signals';

/** What this browser remembers: the theme and whether single keys are shortcuts. Nothing secret. */
export type Theme = 'system' | 'light' | 'dark';

const load = (name: string): string | null => {
  try {
    return localStorage.getItem(name);
  } catch {
    return null; // storage is blocked: the setting lasts as long as the page
  }
};

const save = (name: string, value: string): void => {
  try {
    localStorage.setItem(name, value);
  } catch {
    // as above
  }
};

const asTheme = (text: string | null): Theme =>
  text === 'light' || text === 'dark' ? text : 'system';

export const theme = signal<Theme>(asTheme(load('toolkeel.theme')));
export const shortcutsOn = signal(load('toolkeel.shortcuts') !== 'off');

export function startSettings(): void {
  effect(() => {
    save('toolkeel.theme', theme.value);
    if (theme.value === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = theme.value;
  });
  effect(() => save('toolkeel.shortcuts', shortcutsOn.value ? 'on' : 'off'));
}
