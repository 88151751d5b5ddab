// The registry's interface, rule by rule (src/kernel/ports.ts). Every implementation passes it as it is.
import { afterEach, beforeEach, describe, expect } from 'vitest';
import { testChanges } from './rules/changes.ts';
import { testCommits } from './rules/commits.ts';
import { testEffects } from './rules/effects.ts';
import { testInbox } from './rules/inbox.ts';
import { testLeases } from './rules/leases.ts';
import { testLog } from './rules/log.ts';
import { testOpenRows } from './rules/open-rows.ts';
import { testRows } from './rules/rows.ts';
import { testSessions } from './rules/sessions.ts';
import type { MakeStore, Store } from './support.ts';

/** @param make gives a fresh, empty store on a driven clock each time. */
export function testRegistry(name: string, make: MakeStore): void {
  describe(name, () => {
    let store: Store | undefined;
    beforeEach(async () => {
      store = await make();
    });
    afterEach(async () => {
      await store?.dispose();
      store = undefined;
    });
    const current = (): Store => {
      expect(store).toBeDefined();
      return store as Store;
    };
    for (const test of [
      testRows,
      testOpenRows,
      testCommits,
      testEffects,
      testLeases,
      testInbox,
      testSessions,
      testLog,
      testChanges,
    ])
      test(current);
  });
}
