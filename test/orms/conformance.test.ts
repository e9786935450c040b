import { dedupConformance, inboxConformance } from "posthorn/testing";
import { describe } from "vitest";
import { runConformance } from "../conformance/run-conformance.js";
import { createLossyProxy } from "../postgres/lossy-proxy.js";
import { postgresDedupHarness, postgresInboxHarness } from "../postgres/postgres-harness.js";
import { freshDatabase } from "../services.js";
import { orms } from "./subjects/all.js";

const url = await freshDatabase();
const proxy = await createLossyProxy(url);

// Each in a suite of its own, whose end closes its pools: those of all of them together are more connections than the server takes.
describe.each(orms)("$name", (orm) => {
  // No bytes of PGlite pass the proxy: it is in this process.
  const lossy = orm.oneConnection === true ? undefined : proxy;
  runConformance(`postgresDedup on ${orm.name}`, dedupConformance(postgresDedupHarness(orm, url)));
  runConformance(`postgresStore on ${orm.name}`, inboxConformance(postgresInboxHarness(orm, url, lossy)));
});
