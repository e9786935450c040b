import { createHash } from "node:crypto";
import type { HistoryWriter } from "posthorn/testing";
import type { EndRows } from "./database.js";

/** Writes what was read at the end to the history. The hashes are computed here, from the bytes that were read. */
export function writeEnd(
  { effects, counted, stored }: EndRows,
  reader: HistoryWriter,
  sources: readonly string[] = ["shop"],
): void {
  for (const { tenant, source, id, body, by } of effects)
    reader.see("effect", { tenant, source, id, bodyHash: hashOf(body), by });
  reader.see("effects_read", { rows: effects.length, counted });
  for (const { tenant, source, id, body, hashColumn, outcome } of stored) {
    const hash = Buffer.from(hashColumn).toString("hex");
    reader.see("stored", { tenant, source, id, outcome, bodyHash: hashOf(body), hashColumn: hash });
  }
  reader.see("inbox_read", { rows: stored.length, sources });
}

export function hashOf(body: Uint8Array): string {
  return createHash("sha256").update(body).digest("hex");
}
