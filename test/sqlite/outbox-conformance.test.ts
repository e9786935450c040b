import { outboxConformance } from "posthorn/testing";
import { runConformance } from "../conformance/run-conformance.js";
import { sqliteOutboxHarness } from "./outbox-harness.js";

runConformance("sqliteStore", outboxConformance(sqliteOutboxHarness));
