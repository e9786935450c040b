import { dedupConformance, inboxConformance, outboxConformance } from "posthorn/testing";
import type { Case } from "posthorn/testing";
import { drivers } from "../postgres/drivers.js";
import { postgresOutboxHarness } from "../postgres/outbox-harness.js";
import { postgresDedupHarness, postgresInboxHarness } from "../postgres/postgres-harness.js";
import { sqliteOutboxHarness } from "../sqlite/outbox-harness.js";
import { sqliteDedupHarness, sqliteInboxHarness } from "../sqlite/sqlite-harness.js";
import type { DatabaseName, SuiteName } from "./mutant.js";
import { inboxCases, outboxCases } from "./targeted.js";
import { postgresCases } from "./targeted-postgres.js";
import { sqliteCases } from "./targeted-sqlite.js";

export type Suites = Readonly<Record<SuiteName, readonly Pick<Case, "name" | "run">[]>>;

/** The conformance kit of a store, and what stands beside it here. Nothing is opened before a case runs. */
export function suitesOf(database: DatabaseName, url: string): Suites {
  return database === "sqlite" ? sqliteSuites() : postgresSuites(url);
}

function sqliteSuites(): Suites {
  return {
    outbox: kept(outboxConformance(sqliteOutboxHarness)),
    inbox: kept(inboxConformance(sqliteInboxHarness)),
    dedup: kept(dedupConformance(sqliteDedupHarness)),
    targeted: [...sqliteCases(), ...outboxCases(sqliteOutboxHarness), ...inboxCases(sqliteInboxHarness)],
  };
}

function postgresSuites(url: string): Suites {
  const [driver] = drivers;
  if (driver === undefined) throw new Error("There is no driver.");
  const outbox = postgresOutboxHarness(driver, url);
  const inbox = postgresInboxHarness(driver, url);
  return {
    outbox: kept(outboxConformance(outbox)),
    inbox: kept(inboxConformance(inbox)),
    dedup: kept(dedupConformance(postgresDedupHarness(driver, url))),
    targeted: [...postgresCases(url), ...outboxCases(outbox), ...inboxCases(inbox)],
  };
}

function kept(cases: readonly Case[]): readonly Case[] {
  return cases.filter(({ declined }) => declined === undefined);
}
