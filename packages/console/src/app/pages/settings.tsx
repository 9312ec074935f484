import type { JSX } from 'preact';
import { session, signOut } from '../data/session.js';
import { shortcutsOn, theme, type Theme } from '../lib/settings.js';
import { Facts, Time } from '../ui/basics.js';
import { PageHead } from '../ui/page.js';

const THEMES: readonly (readonly [Theme, string])[] = [
  ['system', 'As the system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
];

const SHORTCUTS: readonly (readonly [string, string])[] = [
  ['g then n, a, o, c, p, t, u', 'Go to Now, Approvals, Operations, Calls, Policy, Tools, Audit'],
  ['j, k', 'Next and previous item of a list'],
  ['Enter', 'Open the item'],
  ['x', 'Select the approval for a batch'],
  ['a', 'Approve: shows the consequence first'],
  ['e', 'Edit'],
  ['r', 'Reject'],
  ['f', 'Freeze or continue the list of calls'],
  ['/', 'Search'],
];

export function Settings(): JSX.Element {
  const { value } = session;
  return (
    <>
      <PageHead title="Settings" lead="They are kept in this browser." />
      <section class="card">
        <div class="card-body">
          <fieldset class="plain">
            <legend class="label">Theme</legend>
            <div class="actions">
              {THEMES.map(([name, label]) => (
                <button
                  key={name}
                  type="button"
                  class="button"
                  aria-pressed={theme.value === name}
                  onClick={() => {
                    theme.value = name;
                  }}
                >
                  {label}
                </button>
              ))}
            </div>
          </fieldset>
          <label class="check">
            <input
              type="checkbox"
              checked={shortcutsOn.value}
              onChange={({ currentTarget }) => {
                shortcutsOn.value = currentTarget.checked;
              }}
            />
            Single keys are shortcuts
          </label>
          <Facts
            facts={SHORTCUTS.map(([keys, text]) => ({
              name: keys,
              value: <span class={shortcutsOn.value ? '' : 'muted'}>{text}</span>,
            }))}
          />
        </div>
      </section>
      {value.state === 'signed-in' && (
        <section class="card">
          <div class="card-head">
            <h2>Session</h2>
          </div>
          <div class="card-body">
            <Facts
              facts={[
                { name: 'Signed in as', value: value.session.name },
                {
                  name: 'Expires',
                  value: value.session.expires_at && <Time at={value.session.expires_at} zone />,
                },
                { name: 'Version', value: value.session.version },
                {
                  name: 'Licenses',
                  value: (
                    <a href="/licenses.json" data-external="true">
                      of the included software
                    </a>
                  ),
                },
              ]}
            />
            <div class="actions">
              <button type="button" class="button" onClick={() => void signOut()}>
                Sign out
              </button>
            </div>
          </div>
        </section>
      )}
    </>
  );
}
