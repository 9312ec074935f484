/** A range in code points of the returned text. */
interface Place {
  readonly start: number;
  readonly end: number;
}

export interface UrlEntity extends Place {
  readonly url: string;
  readonly expanded_url: string;
  readonly display_url: string;
  readonly media_key?: string;
}

export interface Entities {
  readonly urls?: readonly UrlEntity[];
  readonly mentions?: readonly (Place & { readonly username: string; readonly id: string })[];
  readonly hashtags?: readonly (Place & { readonly tag: string })[];
  readonly cashtags?: readonly (Place & { readonly tag: string })[];
}

export type EntityMatch = Span &
  (
    | { readonly kind: 'url' | 'hashtag' | 'cashtag'; readonly value: string }
    | { readonly kind: 'mention'; readonly value: string }
  );

const mention = /(?<![\w!#$%&*@＠])[@＠](?<value>\w{1,15})(?![\w@＠]|:\/\/)/g;
const hashtag = /(?<![\p{L}\p{N}_&/])[#＃](?<value>[\p{L}\p{M}\p{N}_]*\p{L}[\p{L}\p{M}\p{N}_]*)/gu;
const cashtag = /(?<![\w$/])\$(?<value>[A-Za-z]{1,6}(?:[._][A-Za-z]{1,2})?)(?![\w$])/g;

/** The entities in a submitted text. Links contain no other entities. */
export function findEntities(text: string): EntityMatch[] {
  const links = findLinks(text).map((span): EntityMatch => ({
    ...span,
    kind: 'url',
    value: text.slice(span.start, span.end),
  }));
  const others = (kind: 'mention' | 'hashtag' | 'cashtag', pattern: RegExp): EntityMatch[] =>
    [...text.matchAll(pattern)].map(({ index, 0: whole, groups }) => ({
      kind,
      start: index,
      end: index + whole.length,
      value: groups?.['value'] ?? '',
    }));
  const tags = [
    ...(/[@＠]/.test(text) ? others('mention', mention) : []),
    ...(/[#＃]/.test(text) ? others('hashtag', hashtag) : []),
    ...(text.includes('$') ? others('cashtag', cashtag) : []),
  ].filter((tag) => !links.some(({ start, end }) => tag.start < end && tag.end > start));
  return [...links, ...tags].toSorted((a, b) => a.start - b.start);
}

interface Span {
  readonly start: number;
  readonly end: number;
}

const generic = [
  'com org net edu gov mil int info biz name pro mobi asia jobs museum travel app dev page blog',
  'shop store online site tech xyz club live news world today cloud wiki design art email space',
  'website agency social media studio top vip link click life guru earth ngo academy software',
].join(' ');

const country = [
  'ac ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo br bs bt bw',
  'by bz ca cc cd cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg er es et',
  'eu fi fj fk fm fo fr ga gb gd ge gf gg gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id',
  'ie il im in io iq ir is it je jm jo jp ke kg kh ki km kn kp kr kw ky kz la lb lc li lk lr ls lt lu',
  'lv ly ma mc md me mg mh mk ml mm mn mo mp mq mr ms mt mu mv mw mx my mz na nc ne nf ng ni nl no np',
  'nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt pw py qa re ro rs ru rw sa sb sc sd se sg sh si sj',
  'sk sl sm sn so sr ss st su sv sx sy sz tc td tf tg th tj tk tl tm tn to tr tt tv tw tz ua ug uk us',
  'uy uz va vc ve vg vi vn vu wf ws ye yt za zm zw',
].join(' ');

const either = (words: string): string => words.replaceAll(' ', '|');

/** Latin and Cyrillic letters: other scripts often continue without a space after a URL. */
const LETTER = String.raw`A-Za-z\u00C0-\u024F\u0400-\u04FF`;
const LABEL = `[${LETTER}0-9](?:[${LETTER}0-9_-]*[${LETTER}0-9])?`;
const PLAIN = String.raw`[${LETTER}0-9!*';:=+,.$/%#\[\]\-_~@|&]`;
const GROUP = String.raw`\(${PLAIN}*\)`;
/** Trailing punctuation belongs to the sentence, not to the path. */
const PATH = String.raw`/(?:(?:${PLAIN}|${GROUP})*(?:[${LETTER}0-9=_#/+\-]|${GROUP}))?`;
const QUERY = String.raw`\?[\w!?*'@();:&=+$/%#\[\]\-.,~|]*[\w\-&=#/]`;
const TAIL = String.raw`(?::\d+)?(?:${PATH})?(?:${QUERY})?`;
const TOP = `(?:${either(generic)}|${either(country)})(?![A-Za-z0-9@-])`;

const before = String.raw`(?<![A-Za-z0-9@＠$#＃])`;
const withProtocol = `${before}https?://(?:${LABEL}\\.)+${TOP}${TAIL}`;
const without = String.raw`(?<![${LETTER}0-9@＠$#＃_./\-])(?:${LABEL}\.)+${TOP}${TAIL}`;
/** t.co links end with their code. */
const short = String.raw`${before}https?://t\.co/[A-Za-z0-9]+`;

const address = new RegExp([short, withProtocol, without].join('|'), 'giu');

/** The texts that X turns into links: URLs, and domain names with a known top-level domain. */
export function findLinks(text: string): Span[] {
  if (!text.includes('.')) return [];
  return [...text.matchAll(address)].map(({ index, 0: found }) => ({
    start: index,
    end: index + found.length,
  }));
}
