import type { Redactor } from '@toolkeel/pack-kit';

/** Where the short-lived tokens come from that open a catalogue's assets. */
export interface Signing {
  readonly tokenUrl: string;
  /** Storage accounts whose assets need no token. */
  readonly openAccounts: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
}

/** A catalogue, and on what terms it is reached. */
export interface Catalog {
  /** Its configured name; the address for one that came as an argument. */
  readonly name: string;
  readonly url: URL;
  /** Sent to the origin of `url` and nowhere else. They may be secret. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Origins that the operator named. They may be private; anything else that is reached on behalf
   * of this catalogue must be public. Empty for a catalogue that came as an argument.
   */
  readonly trusted: ReadonlySet<string>;
  readonly signing?: Signing;
  /** Redacts the catalogue's credentials. */
  readonly secrets: Redactor;
}
