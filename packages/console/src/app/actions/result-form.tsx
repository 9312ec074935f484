import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Arguments, Preview } from '../../api/types.js';
import { api } from '../data/api.js';
import { useLoad } from '../data/load.js';
import { FormFields } from '../forms/form-fields.js';
import { readForm, resultFields, textsOf, type Texts } from '../forms/schema-form.js';
import { Loading } from '../ui/basics.js';

interface ResultFormProps {
  readonly preview: Preview;
  /** Whether the form is shown; until then it is not known what can be given. */
  readonly onReady: (isReady: boolean) => void;
  readonly onChange: (data: Arguments | undefined) => void;
}

/** For a tool that this process does not have: most results have an id. */
const ID_ONLY = { properties: { id: { type: 'string' } } };

/** The result that repeated calls receive: what the upstream shows, and what was sent. */
export function ResultForm({ preview, onReady, onChange }: ResultFormProps): JSX.Element {
  const { operation, arguments: args = {} } = preview;
  const tools = useLoad(api.tools, 'tools');
  const [texts, setTexts] = useState<Texts>({});
  const isReady = tools.value !== undefined || tools.failure !== undefined;
  useEffect(() => onReady(isReady), [isReady]);
  if (!isReady) return <Loading what="the shape of the result" />;
  const tool = tools.value?.tools.find(({ name }) => name === operation.tool);
  // Nothing is required unless something is given.
  const isGiven = Object.values(texts).some((text) => text !== '');
  const fields = resultFields(tool?.output_schema ?? ID_ONLY).map((field) =>
    isGiven ? field : { ...field, required: false },
  );
  if (fields.length === 0) return <></>;
  const shown = { ...textsOf(fields, args), ...texts };
  const errors = Object.keys(texts).length === 0 ? {} : readForm(fields, shown).errors;
  const change = (next: Texts): void => {
    setTexts(next);
    const { values } = readForm(fields, next);
    onChange(Object.keys(values).length === 0 ? undefined : values);
  };
  return (
    <section class="section">
      <h3>Result for repeated calls (optional)</h3>
      <FormFields fields={fields} texts={shown} errors={errors} onChange={change} />
    </section>
  );
}
