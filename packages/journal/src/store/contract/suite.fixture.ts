import { afterEach, beforeEach, describe } from 'vitest';
import { activityContract } from './activity.fixture.js';
import { approvalContract } from './approvals.fixture.js';
import { approvedContract } from './approved.fixture.js';
import { auditContract } from './audit.fixture.js';
import { besidesContract } from './besides.fixture.js';
import { claimContract } from './claims.fixture.js';
import { contentContract } from './content.fixture.js';
import { editContract } from './edits.fixture.js';
import { explicitKeyContract } from './explicit-keys.fixture.js';
import { type Bench, LEASE, type OpenBench, owner } from './harness.fixture.js';
import { leaseContract, waitContract } from './leases.fixture.js';
import { listingContract, retentionContract } from './listing.fixture.js';
import { notificationContract } from './notifications.fixture.js';
import { recordContract } from './records.fixture.js';
import { limitContract, sendContract } from './sending.fixture.js';
import { settleContract } from './settling.fixture.js';
import { stepContract } from './steps.fixture.js';

/** The contract of JournalStore; every implementation must pass it. */
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
      'explicit keys': explicitKeyContract,
      content: contentContract,
      besides: besidesContract,
      sending: sendContract,
      limits: limitContract,
      settling: settleContract,
      steps: stepContract,
      leases: leaseContract,
      waiting: waitContract,
      approvals: approvalContract,
      edits: editContract,
      'approved operations': approvedContract,
      notifications: notificationContract,
      audit: auditContract,
      listing: listingContract,
      retention: retentionContract,
      records: recordContract,
      activity: activityContract,
    };
    for (const [name, register] of Object.entries(parts)) {
      describe(`contract: ${name}`, () => {
        register(() => bench);
      });
    }
  });
}
