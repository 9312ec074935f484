import type { AccountId, Tool } from '@toolkeel/contract';
import { effectiveArguments, openArguments } from '../answer/arguments.js';
import type { Kit } from '../kit.js';
import type { Operation } from '../operation.js';

const PAGE = 200;

/**
 * Earlier versions recorded operations under the configured name of an account, and hashed arguments as
 * they were given. Before the first claim of an account its operations are brought to the present recipe:
 * those that are open or still hold a slot are hashed anew, of the others the account alone is changed.
 */
export function hashUpgrade(
  kit: Pick<Kit, 'store' | 'encryption' | 'identities' | 'tools'>,
): (account: AccountId) => Promise<void> | undefined {
  const { store, encryption, identities, tools } = kit;
  if (store.kind === 'memory') return () => undefined;
  const started = new Map<string, Promise<void>>();
  const done = new Set<string>();

  const rehashed = async (operation: Operation, tool: Tool, account: string): Promise<void> => {
    const asked = identities.withoutKey(tool, account, openArguments(encryption, operation));
    const isEdited = operation.approval?.editedArgs !== undefined;
    const edited = isEdited
      ? identities.withoutKey(tool, account, effectiveArguments(encryption, operation))
      : undefined;
    const { dedupKey } = edited ?? asked;
    await store.rehash(operation.id, {
      account,
      argsHash: asked.argsHash,
      ...(edited && { editedHash: edited.argsHash }),
      ...(operation.dedupKey.by === 'template' &&
        dedupKey.by === 'template' && { template: dedupKey.value }),
    });
  };

  /** Tools whose accounts have ids of their own may have been recorded under other names; others were not. */
  const toolsOf = async (account: string, former: string): Promise<readonly string[]> => {
    const names: string[] = [];
    for (const { name, mutation } of tools.specs()) {
      if (!mutation) continue;
      if (former === account || (await tools.load(name))?.accountId) names.push(name);
    }
    return names;
  };

  const upgrade = async (account: string, former: string): Promise<void> => {
    const names = tools.specs().map(({ name }) => name);
    const some = await store.oldHashes({ accounts: [former], tools: names, limit: 1 });
    const ours = await toolsOf(account, former);
    if (some.length > 0) await rehashAll(account, former, ours);
    await store.moveFree([former], ours, account);
  };

  const rehashAll = async (
    account: string,
    former: string,
    names: readonly string[],
  ): Promise<void> => {
    for (;;) {
      const found = await store.oldHashes({ accounts: [former], tools: names, limit: PAGE });
      let changed = 0;
      for (const operation of found) {
        const tool = await tools.load(operation.tool);
        if (!tool || operation.damaged !== undefined) continue;
        await rehashed(operation, tool, account);
        changed += 1;
      }
      if (found.length < PAGE || changed === 0) return;
    }
  };

  const all = async ({ id, formerly = [] }: AccountId): Promise<void> => {
    for (const former of new Set([...formerly, id])) {
      const key = keyOf(id, former);
      let running = started.get(key);
      if (running === undefined) {
        running = upgrade(id, former);
        started.set(key, running);
        // Tried again by the next call: until it worked, nothing of this account is claimed.
        running.then(
          () => done.add(key),
          () => started.delete(key),
        );
      }
      await running;
    }
  };
  return (account) => {
    const { id, formerly = [] } = account;
    const isDone = [...formerly, id].every((former) => done.has(keyOf(id, former)));
    return isDone ? undefined : all(account);
  };
}

const keyOf = (id: string, former: string): string => `${former}\n${id}`;
