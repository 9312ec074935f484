/** A host that cannot be made or started as it was asked to. The message is for a person. */
export class HostError extends Error {
  override readonly name = 'HostError';
}
