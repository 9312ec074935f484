import type { HostLog } from '@toolkeel/host';
import type { Branch, Members } from './branch.js';
import { matchesPattern } from './effects.js';

interface ListKind {
  readonly member: string;
  readonly capability: string;
  /** The member of an item that identifies it. */
  readonly key: string;
  /** Whether two upstreams may list the same: a resource is read, a tool acts. */
  readonly mayRepeat: boolean;
}

const KINDS = {
  'tools/list': { member: 'tools', capability: 'tools', key: 'name', mayRepeat: false },
  'prompts/list': { member: 'prompts', capability: 'prompts', key: 'name', mayRepeat: false },
  'resources/list': { member: 'resources', capability: 'resources', key: 'uri', mayRepeat: true },
  'resources/templates/list': {
    member: 'resourceTemplates',
    capability: 'resources',
    key: 'uriTemplate',
    mayRepeat: true,
  },
} as const satisfies Record<string, ListKind>;

export type ListMethod = keyof typeof KINDS;

export function isListMethod(method: string): method is ListMethod {
  return Object.hasOwn(KINDS, method);
}

/** How long a list waits for one upstream. What it listed before is used then. */
const LIST_MS = 5000;

interface CatalogOptions {
  readonly branches: readonly Branch[];
  readonly log: HostLog;
  /** An upstream answered after the client had its list. */
  readonly onLate: (method: ListMethod) => void;
}

type Owner = Branch | 'conflict' | undefined;

/** What several upstreams list, as one list, and which of them a name belongs to. */
export class Catalog {
  readonly #options: CatalogOptions;
  readonly #owners = new Map<ListMethod, ReadonlyMap<string, Branch | 'conflict'>>();
  readonly #reported = new Set<string>();

  constructor(options: CatalogOptions) {
    this.#options = options;
  }

  /** An upstream may list something else now. */
  changed(): void {
    this.#owners.clear();
  }

  /** The lists of all upstreams that are ready, without names that two of them use. */
  async list(method: ListMethod): Promise<Members> {
    const { branches } = this.#options;
    await Promise.all(branches.map((branch) => this.#refresh(branch, method)));
    this.changed();
    const owners = this.#ownersOf(method);
    const { member, key } = KINDS[method];
    const items = branches.flatMap((branch) =>
      branch.listed(method).filter((item) => owners.get(String(item[key])) === branch),
    );
    return { [member]: items };
  }

  /** Resolves when the list is up to date, or the upstream takes too long. */
  async #refresh(branch: Branch, method: ListMethod): Promise<void> {
    const { member, capability } = KINDS[method];
    if (!branch.can(capability)) return;
    let isLate = false;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        isLate = true;
        branch.gaveUp(method);
        resolve();
      }, LIST_MS);
      void branch.list(method, member).then((isListed) => {
        clearTimeout(timer);
        resolve();
        if (!isLate || !isListed) return;
        this.changed();
        this.#options.onLate(method);
      });
    });
  }

  /**
   * The upstream of a tool or prompt. All lists are needed to know that no other upstream has the name
   * too: the first call asks for them.
   */
  ownerOf(method: 'tools/list' | 'prompts/list', name: string): Owner | Promise<Owner> {
    const { capability } = KINDS[method];
    const capable = this.#options.branches.filter((branch) => branch.can(capability));
    const known = (): Owner => this.#ownersOf(method).get(name) ?? this.#byPrefix(name);
    const isSettled = capable.every((branch) => branch.wasAsked(method));
    const isComplete = capable.every((branch) => branch.isListed(method));
    const owner = known();
    if (isSettled && (owner !== undefined || isComplete)) return owner;
    return this.list(method).then(known);
  }

  /**
   * The upstreams that may have a resource: the one that listed it, else those with a template for it, else
   * all that have resources.
   */
  async candidatesFor(uri: string): Promise<readonly Branch[]> {
    const capable = this.#options.branches.filter((branch) => branch.can('resources'));
    const refreshed = async (method: ListMethod): Promise<void> => {
      if (!capable.every((branch) => branch.isListed(method))) await this.list(method);
    };
    await refreshed('resources/list');
    const exact = this.#ownersOf('resources/list').get(uri);
    if (exact && exact !== 'conflict') return [exact];
    await refreshed('resources/templates/list');
    const templates = (branch: Branch): readonly string[] =>
      branch.listed('resources/templates/list').map(({ uriTemplate }) => String(uriTemplate));
    const isOf = (branch: Branch): boolean =>
      templates(branch).some((template) => template === uri || matchesTemplate(template, uri));
    const matching = capable.filter(isOf);
    return matching.length > 0 ? matching : capable;
  }

  /** For names that are not listed: the upstream decides whether they exist. */
  #byPrefix(name: string): Branch | undefined {
    const matching = this.#options.branches.filter(
      ({ upstream: { prefix } }) => prefix !== '' && name.startsWith(prefix),
    );
    return matching.toSorted(
      (one, other) => other.upstream.prefix.length - one.upstream.prefix.length,
    )[0];
  }

  #ownersOf(method: ListMethod): ReadonlyMap<string, Branch | 'conflict'> {
    const known = this.#owners.get(method);
    if (known) return known;
    const { key, mayRepeat } = KINDS[method];
    const owners = new Map<string, Branch | 'conflict'>();
    for (const branch of this.#options.branches) {
      for (const item of branch.listed(method)) {
        const name = String(item[key]);
        const before = owners.get(name);
        if (before === undefined) owners.set(name, branch);
        else if (before !== branch && !mayRepeat) {
          owners.set(name, 'conflict');
          this.#report(name, before, branch);
        }
      }
    }
    this.#owners.set(method, owners);
    return owners;
  }

  #report(name: string, before: Branch | 'conflict', branch: Branch): void {
    if (before === 'conflict' || this.#reported.has(name)) return;
    this.#reported.add(name);
    this.#options.log('error', 'guard_name_conflict', {
      name,
      upstreams: [before.upstream.name, branch.upstream.name],
      message: `Both upstreams have "${name}", so neither is available. Set a "prefix" for one of them.`,
    });
  }
}

/** `{name}` in a URI template stands for any characters. */
function matchesTemplate(template: string, uri: string): boolean {
  return matchesPattern(template.replaceAll(/\{[^{}]*\}/g, '*'), uri);
}
