import { cursorConformance, dedupConformance, inboxConformance } from "posthorn/testing";
import { runConformance } from "../conformance/run-conformance.js";
import { sqliteCursorHarness, sqliteDedupHarness, sqliteInboxHarness } from "./sqlite-harness.js";

runConformance("sqliteDedup", dedupConformance(sqliteDedupHarness));
runConformance("sqliteStore", inboxConformance(sqliteInboxHarness));
runConformance("sqliteStore as a store of cursors", cursorConformance(sqliteCursorHarness));
