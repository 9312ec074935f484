import { isIPv4, isIPv6 } from 'node:net';

type Range = readonly [network: readonly number[], bits: number];

const range = (cidr: string): Range => {
  const [network = '', bits = ''] = cidr.split('/');
  return [parseAddress(network) ?? [], Number(bits)];
};

/** What is not the public internet, from the IANA registries of special-purpose addresses. */
const special4 = [
  '0.0.0.0/8', // "this network", and what a listener on all interfaces answers to
  '10.0.0.0/8',
  '100.64.0.0/10', // carrier-grade NAT
  '127.0.0.0/8',
  '169.254.0.0/16', // link-local, cloud metadata services
  '172.16.0.0/12',
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16',
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
].map(range);

/** Global unicast is 2000::/3; these are the parts of it that lead somewhere else. */
const special6 = [
  '2001::/23', // protocol assignments, Teredo among them
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4: carries any IPv4 address
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
].map(range);

const globalUnicast = range('2000::/3');

/** Whether an IP address, as text, is one of the public internet. What is no address is not. */
export function isPublicAddress(address: string): boolean {
  const bytes = parseAddress(address);
  if (!bytes) return false;
  if (bytes.length === 4) return !special4.some((one) => contains(one, bytes));
  // Outside global unicast are loopback, link-local, unique local and multicast addresses, and those
  // that carry an IPv4 address: mapped, compatible, NAT64.
  return contains(globalUnicast, bytes) && !special6.some((one) => contains(one, bytes));
}

function contains([network, bits]: Range, bytes: readonly number[]): boolean {
  if (network.length !== bytes.length) return false;
  return bytes.every((byte, index) => {
    const width = Math.min(8, Math.max(0, bits - index * 8));
    const mask = (0xff << (8 - width)) & 0xff;
    return (byte & mask) === ((network[index] ?? 0) & mask);
  });
}

/** 4 or 16 bytes; undefined for anything that is not an IP address in its usual notation. */
export function parseAddress(address: string): readonly number[] | undefined {
  if (isIPv4(address)) return address.split('.').map(Number);
  const [plain = ''] = address.split('%');
  return isIPv6(plain) ? parse6(plain) : undefined;
}

function parse6(address: string): readonly number[] {
  const [head = '', tail] = address.split('::');
  const front = groupsOf(head);
  if (tail === undefined) return front;
  const back = groupsOf(tail);
  const gap = Array.from({ length: 16 - front.length - back.length }, () => 0);
  return [...front, ...gap, ...back];
}

function groupsOf(part: string): number[] {
  if (part === '') return [];
  return part.split(':').flatMap((group) => {
    if (group.includes('.')) return group.split('.').map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}
