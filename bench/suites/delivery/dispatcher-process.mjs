// One dispatcher alone in a process, so that its memory is nobody else's. Not TypeScript: what compiles that as it is
// loaded takes as much memory as the dispatcher itself.
import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "pg";
import { createAddressGuard, createDispatcher } from "posthorn/dispatch";
import { postgresStore } from "posthorn/postgres";

const [url = "", schema = "", slots, forMs] = process.argv.slice(2);
const pool = new Pool({ connectionString: url });
const attempts = { acknowledged: 0, other: 0 };
const dispatcher = createDispatcher({
  store: postgresStore({ client: pool, schema }),
  slots: Number(slots),
  guard: createAddressGuard({ allowHttp: true, allowAddresses: ["127.0.0.0/8"] }),
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
