import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ToolInfo, TryResponse } from '../../../api/types.js';
import { api, type Answer } from '../../data/api.js';
import { useLoad } from '../../data/load.js';
import { connection } from '../../data/stream.js';
import { FormFields } from '../../forms/form-fields.js';
import { fieldsOf, readForm, type Texts } from '../../forms/schema-form.js';
import { formatCount } from '../../lib/format.js';
import { Badge, Empty, Facts, Note } from '../../ui/basics.js';
import { JsonTree } from '../../ui/json-tree.js';
import { PageHead, Result } from '../../ui/page.js';
import { EffectBadge } from './effect.js';

export function ToolPage({ name }: { readonly name: string }): JSX.Element {
  const loaded = useLoad(api.tools, 'tools');
  return (
    <Result loaded={loaded} what="the tool">
      {({ tools }) => {
        const tool = tools.find((one) => one.name === name);
        return tool ? (
          <Opened key={name} tool={tool} />
        ) : (
          <Empty title="This process does not have the tool">
            <p>
              <a href="/tools">Show all tools</a>
            </p>
          </Empty>
        );
      }}
    </Result>
  );
}

function Opened({ tool }: { readonly tool: ToolInfo }): JSX.Element {
  const { tokens } = tool;
  return (
    <>
      <PageHead
        crumb={<a href="/tools">Tools</a>}
        title={tool.name}
        badges={
          <>
            <EffectBadge effect={tool.effect} />
            {tool.destructive && <Badge tone="danger">destructive</Badge>}
          </>
        }
        lead={tool.description}
      />
      <div class="columns">
        <div class="section">
          <Try tool={tool} />
          <section class="card">
            <div class="card-head">
              <h2>Input schema</h2>
            </div>
            <div class="card-body">
              <JsonTree value={tool.input_schema} open={2} />
            </div>
          </section>
          <section class="card">
            <div class="card-head">
              <h2>Output schema</h2>
            </div>
            <div class="card-body">
              <JsonTree value={tool.output_schema} open={1} />
            </div>
          </section>
        </div>
        <div class="section">
          <section class="card" aria-label="Facts">
            <div class="card-body">
              <Facts
                facts={[
                  { name: 'Title', value: tool.title },
                  { name: 'Category', value: tool.category },
                  { name: 'Version', value: tool.version },
                  { name: 'Profiles', value: tool.profiles.join(', ') },
                  { name: 'Needs', value: tool.requires.join(', ') || 'nothing' },
                  { name: 'Sensitive arguments', value: tool.sensitive.join(', ') || 'none' },
                  {
                    name: 'Cost for a model',
                    value:
                      tokens &&
                      `${formatCount(tokens.model)} tokens of ${formatCount(tokens.listing)} listed`,
                  },
                  { name: 'Input hash', value: <code>{tool.input_schema_hash}</code> },
                  { name: 'Output hash', value: <code>{tool.output_schema_hash}</code> },
                ]}
              />
            </div>
          </section>
          <section class="card">
            <div class="card-head">
              <h2>Error codes</h2>
              <span class="count">{tool.possible_error_codes.length}</span>
            </div>
            <ul class="codes">
              {tool.possible_error_codes.map(({ code, retryable, meaning }) => (
                <li key={code}>
                  <code>{code}</code> {retryable && <Badge tone="info">retryable</Badge>}
                  <p class="small muted">{meaning}</p>
                </li>
              ))}
            </ul>
          </section>
        </div>
      </div>
    </>
  );
}

/** Calls a read tool with a form made from its schema. It passes policy and kernel, and is recorded. */
function Try({ tool }: { readonly tool: ToolInfo }): JSX.Element {
  const fields = fieldsOf(tool.input_schema);
  const [texts, setTexts] = useState<Texts>({});
  const [showErrors, setShowErrors] = useState(false);
  const [isRunning, setRunning] = useState(false);
  const [answer, setAnswer] = useState<Answer<TryResponse> | undefined>(undefined);
  const { values, errors } = readForm(fields, texts);
  if (!tool.can_try) {
    return (
      <Note tone="info" title={tool.mutation ? 'It acts on the world' : 'It cannot be tried here'}>
        {tool.mutation
          ? 'Only read tools can be tried here. '
          : 'Another process serves it, or its pack is not configured. '}
        <a href="/policy">See what the policy would do with a call</a>
      </Note>
    );
  }
  const run = async (): Promise<void> => {
    setShowErrors(true);
    if (Object.keys(errors).length > 0) return;
    setRunning(true);
    setAnswer(await api.tryTool(tool.name, values));
    setRunning(false);
  };
  return (
    <section class="card" aria-labelledby="try">
      <div class="card-head">
        <h2 id="try">Try it</h2>
        <span class="muted small">Calls the tool for real, and is recorded like any call</span>
      </div>
      <div class="card-body">
        <FormFields
          fields={fields}
          texts={texts}
          errors={showErrors ? errors : {}}
          onChange={setTexts}
        />
        <div class="actions">
          <button
            type="button"
            class="button is-primary"
            disabled={isRunning || connection.value.state === 'lost'}
            onClick={() => void run()}
          >
            {isRunning ? 'Calling …' : 'Call it'}
          </button>
        </div>
        <div aria-live="polite">
          {answer?.ok && <JsonTree value={answer.value.envelope} open={3} />}
          {answer?.ok === false && (
            <Note tone="danger" title={answer.failure.message}>
              {answer.failure.whatToDo}
            </Note>
          )}
        </div>
      </div>
    </section>
  );
}
