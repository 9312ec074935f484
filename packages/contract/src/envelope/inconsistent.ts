/** Something that cannot stand in an envelope: it contradicts itself or the envelope's schema. */
export class InconsistentEnvelopeError extends TypeError {
  override readonly name: string = 'InconsistentEnvelopeError';
}

/** Throws the refusal unless the condition holds. The problem never quotes what was given. */
export function demand(holds: boolean, field: string, problem: string): asserts holds {
  if (!holds) throw new InconsistentEnvelopeError(`${field} ${problem}`);
}
