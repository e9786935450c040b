import { outboxConformance } from "posthorn/testing";
import { runConformance } from "../conformance/run-conformance.js";
import { soleProcessHarness, sqliteOutboxHarness } from "./outbox-harness.js";

runConformance("sqliteOutbox", outboxConformance(sqliteOutboxHarness));
runConformance("sqliteOutbox of a sole process", outboxConformance(soleProcessHarness));
