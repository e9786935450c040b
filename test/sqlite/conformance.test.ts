import { dedupConformance, inboxConformance } from "posthorn/testing";
import { runConformance } from "../conformance/run-conformance.js";
import { sqliteDedupHarness, sqliteInboxHarness } from "./sqlite-harness.js";

runConformance("sqliteDedup", dedupConformance(sqliteDedupHarness));
runConformance("sqliteStore", inboxConformance(sqliteInboxHarness));
