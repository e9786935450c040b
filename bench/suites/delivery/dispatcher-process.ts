// One dispatcher alone in a process, so that its memory is nobody else's.
import { Pool } from "pg";
import { postgresOutbox } from "posthorn/postgres";
import { setTimeout as sleep } from "node:timers/promises";
import { dispatcherOf } from "./bench-outbox.js";

const [url = "", schema = "", forMs = ""] = process.argv.slice(2);
const pool = new Pool({ connectionString: url });
const attempts = { acknowledged: 0, other: 0 };
const dispatcher = dispatcherOf(postgresOutbox({ client: pool, schema }), {
  observer(signal) {
    if (signal.kind !== "delivery_attempted") return;
    if (signal.outcome === "acknowledged") attempts.acknowledged += 1;
    else attempts.other += 1;
  },
});
await dispatcher.start();
await sleep(Number(forMs));
await dispatcher.stop();
await pool.end();
// In kilobytes, and the most that it ever was.
process.send?.({ ...attempts, residentMb: process.resourceUsage().maxRSS / 1000 });
process.disconnect();
