// Where deliveries land: a receiver with a database of its own, to be killed too. Started by host.ts with its options
// as JSON; each endpoint is a source.
import Database from "better-sqlite3";
import { createReceiver, standardWebhooks } from "posthorn";
import { nodeListener } from "posthorn/node";
import { sqliteStore } from "posthorn/sqlite";
import { serve } from "./serve.mjs";

/** @import { ReceivedEvent } from "posthorn" */
/** @import { HostOptions } from "./work.mjs" */

const SECRET = "whsec_cG9zdGhvcm4gY3Jhc2ggZW5kcG9pbnRzIG9ubHkhISE=";
const SOURCES = ["ep_key", "ep_line"];
const options = /** @type {HostOptions} */ (JSON.parse(process.argv[2] ?? "{}"));
const db = new Database(options.database);
const insert = db.prepare(
  "insert into effect (tenant, source, event_id, body, done_by, lane, seq) values (?, ?, ?, ?, ?, ?, ?)",
);
const count = db.prepare(
  "insert into counter (scope, slot, n) values (?, 0, 1) on conflict (scope, slot) do update set n = n + 1",
);

/** @param {ReceivedEvent} event */
function land({ tenant, source, id, body, stamp }) {
  return () => {
    const lane = stamp?.lane && `${stamp.lane.generation}/${stamp.lane.key}`;
    insert.run(tenant, source, id, body, String(process.pid), lane ?? null, stamp?.lane?.sequence ?? null);
    count.run(source);
  };
}

const verifier = standardWebhooks({ secrets: SECRET });
const receiver = createReceiver({
  store: sqliteStore({ db, durability: "strict" }),
  sources: Object.fromEntries(SOURCES.map((source) => [source, { verifier, windowS: "forever" }])),
  handlers: { "*": /** @type {never} */ (land) },
});
serve(Object.fromEntries(SOURCES.map((source) => [`/${source}`, nodeListener(receiver, { source })])));
