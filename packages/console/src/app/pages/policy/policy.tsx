import type { JSX } from 'preact';
import type { PolicyLimit, PolicyResponse, PolicyRule } from '../../../api/types.js';
import { api } from '../../data/api.js';
import { useLoad } from '../../data/load.js';
import { formatCount, formatDuration } from '../../lib/format.js';
import { Badge, Empty, type Tone } from '../../ui/basics.js';
import { PageHead, Result } from '../../ui/page.js';
import { Explain } from './explain.js';
import { Replay } from './replay.js';

export const DECISIONS: Readonly<Record<string, readonly [Tone, string]>> = {
  deny: ['danger', 'Denies'],
  require_approval: ['warn', 'Asks for approval'],
  dry_run: ['info', 'Dry run'],
  allow: ['ok', 'Allows'],
  limited: ['danger', 'Above a limit'],
};

export function Policy(): JSX.Element {
  const loaded = useLoad(api.policy, 'policy');
  return (
    <>
      <PageHead
        title="Policy"
        lead="The rules in force. The strictest rule that matches decides: deny, then approval, then dry run, then allow."
      />
      <Result loaded={loaded} what="the policy">
        {(policy) => (
          <>
            <Rules policy={policy} />
            <Explain />
            <Replay policy={policy} />
          </>
        )}
      </Result>
    </>
  );
}

function Rules({ policy }: { readonly policy: PolicyResponse }): JSX.Element {
  const { mode, template, template_description, rules, limits, profile } = policy;
  return (
    <section class="card" aria-labelledby="rules">
      <div class="card-head">
        <h2 id="rules">Rules in force</h2>
        <span class="muted small">
          Profile {profile}, mode {mode}, template {template}: {template_description}
        </span>
      </div>
      {rules.length === 0 ? (
        <Empty title="No rules">
          <p>
            Add <code>rules</code> to {policy.file ?? 'toolkeel.config.json'}, try them in the
            replay below, then restart the server.
          </p>
        </Empty>
      ) : (
        <ol class="rules">
          {rules.map((rule, at) => (
            <RuleItem key={at} rule={rule} />
          ))}
        </ol>
      )}
      {limits.length > 0 && <Limits limits={limits} />}
      {policy.blocked_tools.length > 0 && (
        <p class="card-body small wrap-anywhere">
          Blocked tools: {policy.blocked_tools.join(', ')}
        </p>
      )}
    </section>
  );
}

const SOURCES: Readonly<Record<PolicyRule['source'], string>> = {
  hard: 'Hard rule of a pack: cannot be overridden',
  mode: 'From the mode',
  user: 'Your rule',
  template: 'From the template',
};

function RuleItem({ rule }: { readonly rule: PolicyRule }): JSX.Element {
  const [tone, word] = DECISIONS[rule.action] ?? ['idle', rule.action];
  return (
    <li class="rule">
      <Badge tone={tone}>{word}</Badge>
      <div>
        <strong class="wrap-anywhere">{rule.name}</strong>
        <span class="muted small"> · {SOURCES[rule.source]}</span>
        <p class="wrap-anywhere">{rule.when === 'always' ? 'Always' : `When ${rule.when}`}</p>
        {rule.reason !== undefined && <p class="small muted wrap-anywhere">{rule.reason}</p>}
        <details class="small">
          <summary class="muted">
            {rule.tools.length === 0
              ? 'No tool of this process'
              : `${rule.tools.length} ${rule.tools.length === 1 ? 'tool' : 'tools'} of this process`}
          </summary>
          <p class="wrap-anywhere mono">{rule.tools.join(', ')}</p>
        </details>
      </div>
    </li>
  );
}

function Limits({ limits }: { readonly limits: readonly PolicyLimit[] }): JSX.Element {
  return (
    <div class="table-wrap">
      <table class="stacks">
        <thead>
          <tr>
            <th scope="col">Limit</th>
            <th scope="col">At most</th>
            <th scope="col">When</th>
          </tr>
        </thead>
        <tbody>
          {limits.map(({ name, max, window_ms, each, when }) => (
            <tr key={name}>
              <th scope="row" class="cell-name">
                {name}
              </th>
              <td data-label="At most">
                {formatCount(max)} in {formatDuration(window_ms)}
                {each !== undefined && `, each ${each}`}
              </td>
              <td data-label="When" class="wrap-anywhere">
                {when}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
