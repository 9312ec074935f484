import type { AccountId, Tool } from '@toolkeel/contract';
import { effectiveArguments, requestedArguments } from '../answer/arguments.js';
import type { JournalContext } from '../context.js';
import type { Operation } from '../operation.js';

const PAGE = 200;

/**
 * Migrates the dedup keys of an account before its first claim. Earlier versions recorded operations
 * under the configured account name and hashed arguments without normalisation. Operations that are
 * open or hold a dedup key are hashed again; the others only change their account. Returns undefined
 * once an account is migrated.
 */
export function accountUpgrade(
  context: Pick<JournalContext, 'store' | 'encryption' | 'dedupKeys' | 'tools'>,
): (account: AccountId) => Promise<void> | undefined {
  const { store, encryption, dedupKeys, tools } = context;
  if (store.kind === 'memory') return () => undefined;
  const started = new Map<string, Promise<void>>();
  const done = new Set<string>();

  const rehash = async (operation: Operation, tool: Tool, account: string): Promise<void> => {
    const requested = dedupKeys.ofArguments(
      tool,
      account,
      requestedArguments(encryption, operation),
    );
    const edited =
      operation.approval?.editedArgs === undefined
        ? undefined
        : dedupKeys.ofArguments(tool, account, effectiveArguments(encryption, operation));
    const { dedupKey } = edited ?? requested;
    await store.rehash(operation.id, {
      account,
      argsHash: requested.argsHash,
      ...(edited && { editedHash: edited.argsHash }),
      ...(operation.dedupKey.by === 'template' &&
        dedupKey.by === 'template' && { template: dedupKey.value }),
    });
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
        await rehash(operation, tool, account);
        changed += 1;
      }
      if (found.length < PAGE || changed === 0) return;
    }
  };

  /** Only tools that resolve an account id can have operations under another account name. */
  const affectedTools = async (account: string, former: string): Promise<readonly string[]> => {
    const names: string[] = [];
    for (const { name, mutation } of tools.specs()) {
      if (!mutation) continue;
      if (former === account || (await tools.load(name))?.accountId) names.push(name);
    }
    return names;
  };

  const upgrade = async (account: string, former: string): Promise<void> => {
    const all = tools.specs().map(({ name }) => name);
    const some = await store.oldHashes({ accounts: [former], tools: all, limit: 1 });
    const affected = await affectedTools(account, former);
    if (some.length > 0) await rehashAll(account, former, affected);
    await store.moveFree([former], affected, account);
  };

  const upgradeAll = async ({ id, formerly = [] }: AccountId): Promise<void> => {
    for (const former of new Set([...formerly, id])) {
      const pair = pairOf(id, former);
      let running = started.get(pair);
      if (running === undefined) {
        running = upgrade(id, former);
        started.set(pair, running);
        // After a failure the next call tries again: nothing of this account is claimed before.
        running.then(
          () => done.add(pair),
          () => started.delete(pair),
        );
      }
      await running;
    }
  };
  return (account) => {
    const { id, formerly = [] } = account;
    const isDone = [...formerly, id].every((former) => done.has(pairOf(id, former)));
    return isDone ? undefined : upgradeAll(account);
  };
}

const pairOf = (id: string, former: string): string => `${former}\n${id}`;
