import { templateArguments, type ToolSpec } from '@toolkeel/contract';
import { JournalError } from '../error.js';

/**
 * Lists `once` tools whose acts are identified by content only: a model that rewords its text acts
 * twice. For the start-up log.
 */
export function keylessTools(
  specs: readonly ToolSpec[],
  templates: Readonly<Record<string, string>> = {},
): readonly string[] {
  return specs
    .filter(({ effect, key, name }) => effect === 'once' && !key && !Object.hasOwn(templates, name))
    .map(({ name }) => name);
}

/** Throws for a template that can never produce a key. */
export function checkTemplates(
  templates: Readonly<Record<string, string>>,
  specs: readonly ToolSpec[],
): void {
  const known = new Map(specs.map((spec) => [spec.name, spec]));
  for (const [name, template] of Object.entries(templates)) {
    const spec = known.get(name);
    const wrong = spec ? templateProblem(spec, template) : `unknown tool "${name}"`;
    if (wrong !== undefined) {
      throw new JournalError('invalid', `key of ${name}: "${template}": ${wrong}`);
    }
  }
}

/** Why a template can never produce a key for calls of the tool. */
export function templateProblem(spec: ToolSpec, template: string): string | undefined {
  const names = templateArguments(template);
  if (!spec.mutation) return 'the tool changes nothing, so it cannot act twice';
  if (names.length === 0) return 'must name an argument, e.g. reply:{in_reply_to_id}';
  const undeclared = names.find((name) => !Object.hasOwn(spec.input.shape, name));
  if (undeclared !== undefined) return `${undeclared} is not an argument of it`;
  const sensitive: readonly string[] = spec.sensitive;
  const secret = names.find((name) => sensitive.includes(name));
  return secret === undefined ? undefined : `${secret} is sensitive, and keys are stored in clear`;
}
