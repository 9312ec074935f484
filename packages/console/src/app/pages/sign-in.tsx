import type { JSX } from 'preact';
import type { Failure } from '../data/api.js';
import { Note } from '../ui/basics.js';
import { Logo } from '../ui/icons.js';

interface SignInProps {
  readonly failure?: Failure | undefined;
  readonly unreachable?: boolean;
}

/** There is no password to type: a link from the terminal signs in. */
export function SignIn({ failure, unreachable = false }: SignInProps): JSX.Element {
  return (
    <main class="sign-in">
      <div class="brand">
        <Logo />
        <h1>Toolkeel console</h1>
      </div>
      {unreachable ? (
        <Note tone="danger" role="alert" title="The server does not respond">
          Start it with <code>toolkeel up</code>. This page tries again every 3 seconds.
        </Note>
      ) : (
        <>
          {failure && (
            <Note tone="danger" role="alert" title={failure.message}>
              {failure.whatToDo}
            </Note>
          )}
          <p>You are signed out. To sign in, create a link on the machine of the server:</p>
          <pre class="code">toolkeel console</pre>
          <p class="muted">
            Open the printed link in this browser. It works once, for 10 minutes.{' '}
            <code>toolkeel up</code> prints one when it starts.
          </p>
        </>
      )}
    </main>
  );
}
