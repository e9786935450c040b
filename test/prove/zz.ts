import { mkdtempSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { installHost } from "../crash/install-host.js";
import { createSqliteOutboxDatabase } from "../crash/sqlite-outbox-database.js";
import { createChance } from "../chance.js";
import { Flow } from "./flow.js";
import { FlowLoad } from "./flow-load.js";
const home = mkdtempSync("/tmp/posthorn-zz-"); installHost(home); process.env["POSTHORN_CRASH_HOME"] = home;
const H = 3_600_000;
for (const mode of ["calm", "jump", "stop"]) {
  const database = await createSqliteOutboxDatabase(); const chance = createChance(1);
  const flow = await Flow.open({ database, hosts: 2, retry: { waitMs: 100, attempts: 99, leastWaitMs: -Infinity } });
  flow.server.answer = () => ({ status: 204, afterMs: chance.below(30) });
  await flow.start();
  const load = new FlowLoad(flow, { scope: mode, chance, kinds: ["beside", "given", "alone", "line"] });
  for (let i = 0; i < 12; i++) {
    if (mode === "jump") for (const s of flow.hosts) await (await s.host()).post("/shift", { ms: chance.pick([H, -H, 24*H, -24*H, 0]) });
    if (mode === "stop" && i % 6 === 0) { await flow.freeze(0, true); await sleep(1500); await flow.freeze(0, false); }
    await sleep(700);
  }
  for (const s of flow.hosts) await (await s.host()).post("/shift", { ms: 0 });
  await load.stop(); await sleep(1000);
  console.log(mode, load.done, database.db.prepare("select outcome, error, count(*) n, min(duration_ms) lo, max(duration_ms) hi from posthorn_attempt group by 1,2").all());
  await flow.close(); await database.close();
}
rmSync(home, { recursive: true });
