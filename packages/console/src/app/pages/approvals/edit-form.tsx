import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Action, ApprovalResponse } from '../../../api/types.js';
import { connection } from '../../data/stream.js';
import { FormFields } from '../../forms/form-fields.js';
import { changesBetween, fieldsOf, readForm, textsOf } from '../../forms/schema-form.js';
import { setQuery } from '../../lib/router.js';
import { Note } from '../../ui/basics.js';
import { Diff } from '../../ui/diff.js';

interface EditFormProps {
  readonly response: ApprovalResponse;
  readonly onAct: (action: Action) => void;
}

/** Edits the arguments of an approval. The difference is beside the button, and in the preview again. */
export function EditForm({ response, onAct }: EditFormProps): JSX.Element {
  const { approval, input_schema: schema, masked, arguments: args = {} } = response;
  const fields = fieldsOf(schema ?? schemaOf(args)).filter(({ name }) => !masked.includes(name));
  const [texts, setTexts] = useState(() => textsOf(fields, args));
  const { values, errors } = readForm(fields, texts);
  const names = fields.map(({ name }) => name);
  const { changes, remove } = changesBetween(args, values, names);
  const hasChanges = Object.keys(changes).length > 0 || remove.length > 0;
  const isValid = Object.keys(errors).length === 0;
  const isOff = !hasChanges || !isValid || connection.value.state === 'lost';
  const act = (action: 'edit' | 'edit_and_approve'): void =>
    onAct({ action, operation_id: approval.id, changes, remove });
  const shown = (all: Readonly<Record<string, unknown>>): Record<string, unknown> =>
    Object.fromEntries(
      names.filter((name) => (all[name] ?? null) !== null).map((name) => [name, all[name]]),
    );
  return (
    <section class="card">
      <div class="card-head">
        <h2>Edit, then approve</h2>
      </div>
      <div class="card-body">
        {masked.length > 0 && (
          <Note tone="info">Sensitive arguments stay as they are: {masked.join(', ')}.</Note>
        )}
        <FormFields fields={fields} texts={texts} errors={errors} onChange={setTexts} />
        <div class="section">
          <h3>What you change</h3>
          {hasChanges && isValid ? (
            <Diff before={shown(args)} after={shown(values)} />
          ) : (
            <p class="muted">{isValid ? 'Nothing yet.' : 'Correct the marked fields first.'}</p>
          )}
        </div>
        <div class="actions">
          <button
            type="button"
            class="button is-primary"
            disabled={isOff}
            onClick={() => act('edit_and_approve')}
          >
            Edit and approve
          </button>
          <button type="button" class="button" disabled={isOff} onClick={() => act('edit')}>
            Save the edit only
          </button>
          <button type="button" class="button is-quiet" onClick={() => setQuery({ edit: '' })}>
            Cancel
          </button>
        </div>
      </div>
    </section>
  );
}

/** Without the tool's schema: texts stay texts, everything else is edited as JSON. */
function schemaOf(args: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const properties = Object.entries(args).map(([name, value]) => [
    name,
    typeof value === 'string' ? { type: 'string' } : {},
  ]);
  return { properties: Object.fromEntries(properties) as Record<string, unknown> };
}
