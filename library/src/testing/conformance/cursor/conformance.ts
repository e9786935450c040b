import type { CursorStore } from "../../../repair/cursor-store.js";
import type { StoreCapabilities } from "../../../store-capabilities.js";
import type { Case, Pledge } from "../case.js";
import { casesOf, needsOf } from "../case.js";
import { same } from "../expectation.js";

/** Fresh, empty memory for one case. */
export interface CursorBench {
  /** At least two on the same cursors, each as if in a process of its own; the same one twice where there can be only one. */
  readonly stores: readonly CursorStore[];
  close(): Promise<void>;
}

/** Tells the kit how to make and use the store under test. */
export interface CursorHarness {
  readonly capabilities: StoreCapabilities;
  open(): Promise<CursorBench>;
}

const contract: readonly Pledge<CursorBench>[] = [
  {
    name: "reads the cursor that was written last under a name; undefined where none was",
    async check(bench) {
      const store = at(bench, 0);
      same(await store.readCursor("repair/github"), undefined, "a cursor that nobody wrote");
      await store.writeCursor("repair/github", "2026-11-15T12:00:00.000Z");
      await store.writeCursor("repair/stripe", "another");
      same(await store.readCursor("repair/github"), "2026-11-15T12:00:00.000Z", "the cursor");
    },
  },
  {
    name: "the last write of a cursor wins, also where it goes back",
    async check(bench) {
      const store = at(bench, 0);
      for (const cursor of ["b", "c", "a"]) await store.writeCursor("repair/github", cursor);
      same(await store.readCursor("repair/github"), "a", "the cursor");
    },
  },
  {
    name: "a cursor is committed when its write resolves: every other process reads it",
    needs: ["multiProcess"],
    async check(bench) {
      await at(bench, 0).writeCursor("repair/github", "one");
      same(await at(bench, 1).readCursor("repair/github"), "one", "the cursor in another process");
    },
  },
  {
    name: "any text is kept as it is",
    async check(bench) {
      const store = at(bench, 0);
      const text = "Zoë \u{1f4ef} \\ ' \" %00 \n";
      await store.writeCursor(text, text);
      same(await store.readCursor(text), text, "the cursor");
    },
  },
];

function at({ stores }: CursorBench, index: number): CursorStore {
  return stores[index % stores.length] as CursorStore;
}

/** Every promise of a store of cursors, as cases for any test runner. */
export function cursorConformance(harness: CursorHarness): Case[] {
  return casesOf({ contract }, needsOf(harness.capabilities), harness);
}
