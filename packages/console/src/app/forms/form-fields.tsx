import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import type { Field, Texts } from './schema-form.js';

interface FormFieldsProps {
  readonly fields: readonly Field[];
  readonly texts: Texts;
  readonly errors: Readonly<Record<string, string>>;
  readonly onChange: (texts: Texts) => void;
}

export function FormFields({ fields, texts, errors, onChange }: FormFieldsProps): JSX.Element {
  return (
    <div class="form">
      {fields.map((field) => (
        <FormField
          key={field.name}
          field={field}
          text={texts[field.name] ?? ''}
          error={errors[field.name]}
          onChange={(text) => onChange({ ...texts, [field.name]: text })}
        />
      ))}
    </div>
  );
}

interface FormFieldProps {
  readonly field: Field;
  readonly text: string;
  readonly error: string | undefined;
  readonly onChange: (text: string) => void;
}

function FormField({ field, text, error, onChange }: FormFieldProps): JSX.Element {
  const id = useId();
  const { name, required, description } = field;
  return (
    <div class="field">
      <label for={id}>
        <code>{name}</code> {required && <span class="muted">(required)</span>}
      </label>
      <Control field={field} id={id} text={text} error={error} onChange={onChange} />
      <span class={error === undefined ? 'hint' : 'error'} id={`${id}-hint`}>
        {error ?? description}
      </span>
    </div>
  );
}

function Control({
  field: { kind, choices, placeholder },
  id,
  text,
  error,
  onChange,
}: FormFieldProps & { readonly id: string }): JSX.Element {
  const common = {
    id,
    class: 'input',
    'aria-describedby': `${id}-hint`,
    'aria-invalid': error !== undefined,
  };
  if (kind === 'choice' || kind === 'boolean') {
    const options = kind === 'boolean' ? ['true', 'false'] : choices;
    return (
      <select
        {...common}
        value={text}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      >
        <option value="">{placeholder || 'Not set'}</option>
        {options.map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
      </select>
    );
  }
  if (kind === 'long' || kind === 'json') {
    return (
      <textarea
        {...common}
        class={kind === 'json' ? 'input mono is-compact' : 'input'}
        placeholder={placeholder}
        value={text}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
    );
  }
  return (
    <input
      {...common}
      inputMode={kind === 'text' ? 'text' : 'decimal'}
      autocomplete="off"
      placeholder={placeholder}
      value={text}
      onInput={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}
