import { outboxConformance } from "posthorn/testing";
import { runConformance } from "../conformance/run-conformance.js";
import { freshDatabase } from "../services.js";
import { drivers } from "./drivers.js";
import { postgresOutboxHarness } from "./outbox-harness.js";

for (const driver of drivers) {
  const url = await freshDatabase();
  runConformance(`postgresStore on ${driver.name}`, outboxConformance(postgresOutboxHarness(driver, url)));
}
