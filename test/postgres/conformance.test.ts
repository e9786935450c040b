import { cursorConformance, dedupConformance, inboxConformance } from "posthorn/testing";
import { runConformance } from "../conformance/run-conformance.js";
import { freshDatabase } from "../services.js";
import { drivers } from "./drivers.js";
import { createLossyProxy } from "./lossy-proxy.js";
import { postgresCursorHarness, postgresDedupHarness, postgresInboxHarness } from "./postgres-harness.js";

const url = await freshDatabase();
const proxy = await createLossyProxy(url);

for (const driver of drivers) {
  runConformance(`postgresDedup on ${driver.name}`, dedupConformance(postgresDedupHarness(driver, url)));
  runConformance(
    `postgresStore on ${driver.name}`,
    inboxConformance(postgresInboxHarness(driver, url, proxy)),
  );
  runConformance(
    `postgresStore on ${driver.name} as a store of cursors`,
    cursorConformance(postgresCursorHarness(driver, url)),
  );
}
