import { dedupConformance, inboxConformance } from "posthorn/testing";
import { runConformance } from "../conformance/run-conformance.js";
import { createLossyProxy } from "../postgres/lossy-proxy.js";
import { postgresDedupHarness, postgresInboxHarness } from "../postgres/postgres-harness.js";
import { freshDatabase } from "../services.js";
import { orms } from "./subjects/all.js";

const url = await freshDatabase();
const proxy = await createLossyProxy(url);

for (const orm of orms) {
  // No bytes of PGlite pass the proxy: it is in this process.
  const lossy = orm.oneConnection === true ? undefined : proxy;
  runConformance(`postgresDedup on ${orm.name}`, dedupConformance(postgresDedupHarness(orm, url)));
  runConformance(`postgresStore on ${orm.name}`, inboxConformance(postgresInboxHarness(orm, url, lossy)));
}
