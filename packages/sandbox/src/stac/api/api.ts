import type { Catalogue } from '../catalogue/catalogue.js';
import type { Traits } from '../flavour/traits.js';
import type { Places } from '../present/links.js';

/** What every handler works with. */
export interface Api {
  readonly catalogue: Catalogue;
  readonly traits: Traits;
  readonly places: Places;
}
