import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { spoilt, wellFormed } from './examples.fixture.js';
import { policyJsonSchema } from './json-schema.js';
import { parsePolicy } from './parse.js';

const ajv = new Ajv2020({ allowUnionTypes: true, strictRequired: false });
const accepts = ajv.compile(policyJsonSchema);

describe('the schema that editors read', () => {
  it('is a sound JSON Schema', () => {
    expect(ajv.validateSchema(policyJsonSchema)).toBe(true);
  });

  it('accepts every well-formed configuration, as the parser does', () => {
    fc.assert(
      fc.property(wellFormed, (config) => {
        expect(accepts(config)).toBe(true);
        expect(parsePolicy(config)).toEqual({ ok: true, policy: config });
      }),
      { numRuns: 200 },
    );
  });

  it('and the parser agree about every spoilt one', () => {
    let refused = 0;
    fc.assert(
      fc.property(spoilt, (config) => {
        const parsed = parsePolicy(config);
        expect(parsed.ok).toBe(accepts(config));
        if (!parsed.ok) refused++;
      }),
      { numRuns: 400 },
    );
    expect(refused).toBeGreaterThan(150);
  });

  it('and the parser agree about any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (config) => {
        expect(parsePolicy(config).ok).toBe(accepts(config));
      }),
    );
  });
});
