import type { Random } from '../../random/random.js';

export function oneOf<Item>(random: Random, items: readonly Item[]): Item {
  return items[Math.floor(random() * items.length)] as Item;
}

const words = (text: string): string[] => text.split(' ');

/** Users are birds, so that nobody is meant. */
export const birds = words(
  'heron finch osprey plover curlew wren siskin gannet petrel avocet bittern dunlin egret fulmar godwit harrier jackdaw kestrel lapwing merlin nuthatch oriole pipit quail redstart skua tern whimbrel yellowhammer waxwing',
);

const who = words('gulls swallows waders the_flock two_terns somebody everybody the_tide fog rain');
const did = words('left returned circled waited crossed followed found lost counted watched');
const what = words(
  'the_estuary the_harbour the_northern_cliffs the_reeds the_salt_marsh the_old_pier',
);
const when = words('at_dawn before_noon after_the_storm last_night again this_morning too_early');
const tags = words('birds tides fieldnotes migration weather');

const spaced = (text: string): string => text.replaceAll('_', ' ');

export function sentence(random: Random): string {
  const parts = [who, did, what, when].map((list) => spaced(oneOf(random, list)));
  const text = parts.join(' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** What a post may have beside its sentence. */
export function flourish(random: Random): string {
  const drawn = random();
  if (drawn < 0.15) return ` #${oneOf(random, tags)}`;
  if (drawn < 0.27) return ` https://example.com/notes/${Math.floor(random() * 9000)}`;
  if (drawn < 0.31) return ' & <so on>';
  if (drawn < 0.35) return ' 🐦';
  if (drawn < 0.37) return ' $TIDE';
  return '';
}
