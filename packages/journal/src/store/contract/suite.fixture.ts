import { afterEach, beforeEach, describe } from 'vitest';
import { approvalContract } from './approvals.fixture.js';
import { auditContract } from './audit.fixture.js';
import { claimContract } from './claims.fixture.js';
import { decidedContract } from './decided.fixture.js';
import { equalContract } from './equals.fixture.js';
import { editContract } from './edits.fixture.js';
import type { Bench, OpenBench } from './harness.fixture.js';
import { owner, LEASE } from './harness.fixture.js';
import { leaseContract } from './leases.fixture.js';
import { limitContract } from './limits.fixture.js';
import { listingContract } from './listing.fixture.js';
import { namedContract } from './named.fixture.js';
import { noticeContract } from './notices.fixture.js';
import { sendContract } from './sending.fixture.js';
import { settleContract } from './settling.fixture.js';
import { stepContract } from './steps.fixture.js';
import { upkeepContract } from './upkeep.fixture.js';
import { waitContract } from './waiting.fixture.js';

/** Everything that a store promises. Whoever adds a store runs all of it. */
export function storeContract(kind: string, open: OpenBench): void {
  describe(`the ${kind} store`, () => {
    let bench: Bench;
    beforeEach(async () => {
      bench = await open();
      await bench.store.registerOwner(owner('alice'), LEASE);
      await bench.store.registerOwner(owner('bob'), LEASE);
    });
    afterEach(() => bench.close());

    const parts = {
      claims: claimContract,
      'acts with two names': namedContract,
      'the same act under another name': equalContract,
      sending: sendContract,
      limits: limitContract,
      settling: settleContract,
      steps: stepContract,
      leases: leaseContract,
      waiting: waitContract,
      approvals: approvalContract,
      edits: editContract,
      'approved operations': decidedContract,
      notifications: noticeContract,
      audit: auditContract,
      listing: listingContract,
      upkeep: upkeepContract,
    };
    for (const [name, register] of Object.entries(parts)) {
      describe(`keeps its promises about ${name}`, () => {
        register(() => bench);
      });
    }
  });
}
