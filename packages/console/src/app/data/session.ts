import { signal, type ReadonlySignal } from '@preact/signals';
import type { SessionResponse } from '../../api/types.js';
import { api, whenSignedOut, type Failure } from './api.js';
import { signOutLocally, startStream } from './stream.js';

export type Session =
  | { readonly state: 'loading' }
  | { readonly state: 'signed-in'; readonly session: SessionResponse }
  | { readonly state: 'signed-out'; readonly failure?: Failure }
  | { readonly state: 'unreachable' };

const current = signal<Session>({ state: 'loading' });
export const session: ReadonlySignal<Session> = current;

/** Signs in with the code of a link, if the address has one, or continues a session. */
export async function startSession(): Promise<void> {
  whenSignedOut(() => {
    if (current.value.state === 'signed-in') current.value = { state: 'signed-out' };
    signOutLocally();
  });
  const code = takeCode();
  const answer = code === undefined ? await api.session() : await api.signIn({ code });
  if (answer.ok) {
    current.value = { state: 'signed-in', session: answer.value };
    startStream();
    return;
  }
  if (answer.failure.code !== 'unreachable') {
    current.value = {
      state: 'signed-out',
      ...(code !== undefined && { failure: answer.failure }),
    };
    signOutLocally();
    return;
  }
  current.value = { state: 'unreachable' };
  setTimeout(() => void startSession(), RETRY_MS);
}

const RETRY_MS = 3_000;

/** A code stays in neither the address bar nor the history. */
function takeCode(): string | undefined {
  const [, code] = /^#login=([\w-]+)$/.exec(location.hash) ?? [];
  if (code !== undefined) history.replaceState(null, '', location.pathname + location.search);
  return code;
}

/** A new link, opened in the same tab, changes only the part of the address after `#`. */
addEventListener('hashchange', () => {
  if (location.hash.startsWith('#login=')) void startSession();
});

export async function signOut(): Promise<void> {
  await api.signOut();
  current.value = { state: 'signed-out' };
  signOutLocally();
}
