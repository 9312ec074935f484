import { PROFILES, type Profile } from '@toolkeel/contract';
import { didYouMean, secretInUrl } from '@toolkeel/host';
import { choosePacks } from '../choose-packs.js';
import { packLine, packNames, type Settings } from '../packs.js';
import { UsageError } from '../usage-error.js';

/** What has to be known to write a configuration. */
export interface Answers {
  readonly profile: Profile;
  readonly packs: readonly string[];
  /** Addresses of upstreams, by pack. What is not named has the pack's own default. */
  readonly upstreams: Readonly<Record<string, string>>;
}

export interface InitFlags {
  readonly profile?: string;
  readonly pack?: readonly string[];
  readonly upstream?: readonly string[];
  readonly config?: string;
  readonly yes?: boolean;
  readonly force?: boolean;
}

/** What the command line answers already; the rest has a default. */
export function answersFrom({
  profile = 'readonly',
  pack = [],
  upstream = [],
}: InitFlags): Answers {
  const known = PROFILES.find((name) => name === profile);
  if (!known) {
    throw new UsageError(
      `There is no profile "${profile}".${didYouMean(profile, PROFILES)} Profiles: ${PROFILES.join(', ')}.`,
    );
  }
  const upstreams = Object.fromEntries(upstream.map(parseUpstream));
  const named = [...pack, ...Object.keys(upstreams)];
  const ready = packNames.filter((name) => packLine(name).setup.isReady);
  return { profile: known, packs: choosePacks(named, ready), upstreams };
}

/** `stac=https://…` */
function parseUpstream(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at < 1)
    throw new UsageError(`"${text}" is not PACK=URL, such as stac=https://stac.example.com`);
  const [pack, url] = [text.slice(0, at), text.slice(at + 1)];
  const problem = urlProblem(url);
  if (problem !== undefined) throw new UsageError(`--upstream ${pack}: ${problem}`);
  return [pack, url];
}

/** Why an address cannot be used, if it cannot. */
export function urlProblem(text: string): string | undefined {
  if (!URL.canParse(text)) return `"${text}" is not an address: it begins with https:// or http://`;
  const { protocol } = new URL(text);
  if (protocol !== 'https:' && protocol !== 'http:') {
    return `it begins with ${protocol}// and must begin with https:// or http://`;
  }
  const found = secretInUrl(text);
  return found
    ? `it holds ${found.what}, which does not belong here: leave it out, and name a variable under "headers" in the file`
    : undefined;
}

/** The configuration file that follows. */
export function configOf({ profile, packs, upstreams }: Answers, schema: string): Settings {
  const settings = packs.map((name) => {
    const url = upstreams[name];
    return [name, url === undefined ? {} : packLine(name).setup.settings(url)] as const;
  });
  return { $schema: schema, profile, packs: Object.fromEntries(settings) };
}
