import type { Block } from '../calls/blocks.js';
import { arrivals, keyOf } from '../witness/requests.js';
import { ownersOf, type Owners } from '../witness/attribute.js';
import type { RunningArm } from './arm.js';
import { DrillError } from '../drill-error.js';

/**
 * Makes every call once, alone, of an upstream that neither waits nor fails, to learn which requests
 * it makes. A call that does not succeed here has arguments that make no sense.
 */
export async function rehearse(
  blocks: readonly Block[],
  { server, upstreams, renew }: RunningArm,
  onBlock: (done: number) => void = () => {},
): Promise<ReadonlyMap<number, Owners>> {
  const owners = new Map<number, Owners>();
  for (const { index, calls } of blocks) {
    await renew();
    await Promise.all(upstreams.map(({ restart }) => restart(0)));
    const seen = upstreams.map(() => 0);
    const keysByCall: Set<string>[] = [];
    for (const { tool, args } of calls) {
      const { answer } = await server.call(tool, args);
      if ('thrown' in answer || answer.isError === true) {
        throw new DrillError(`${tool} fails without faults: ${JSON.stringify({ args, answer })}`);
      }
      const logs = await Promise.all(upstreams.map(({ log }, place) => log(seen[place])));
      logs.forEach((log, place) => {
        seen[place] = log.at(-1)?.id ?? seen[place]!;
      });
      keysByCall.push(new Set(arrivals(logs).map(keyOf)));
    }
    owners.set(index, ownersOf(keysByCall));
    onBlock(owners.size);
  }
  return owners;
}
