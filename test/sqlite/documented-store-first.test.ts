import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { signedRequest } from "posthorn/testing";
import { afterAll, expect, it } from "vitest";
import { createDatabaseFile } from "./database-file.js";

// The program of docs/storing-first.md, as it stands there, in a process of its own.

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(new URL("../../docs/storing-first.md", import.meta.url), "utf8");
const block = /```ts\n\/\/ shop\.ts\n([^]*?)```/.exec(page)?.[1] ?? "";
const secrets = "whsec_of_this_test";
const file = createDatabaseFile();
afterAll(() => file.remove());

/** On a free port of loopback, with this test's file. */
const program = `${block
  .replace('"shop.db"', JSON.stringify(file.path))
  .replace(".listen(3000)", '.listen(0, "127.0.0.1")')
  .replace("firstMs: 1000, factor: 4, maxAttempts: 8", "firstMs: 1, factor: 1, maxAttempts: 2")
  .replaceAll("export ", "")}
  process.on("SIGUSR2", () => void redriveAll());
  server.on("listening", () => console.log("port " + server.address().port));`;

it("the documented program stores, handles in order, says why a handler fails, redrives, and ends at SIGTERM with 0", async () => {
  const env = { ...process.env, STRIPE_WEBHOOK_SECRET: secrets, NODE_ENV: "development" };
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], { cwd: root, env });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (data: Buffer) => (said += data.toString()));
  const exited = once(child, "exit");
  try {
    await expect.poll(() => said, { timeout: 20_000 }).toMatch(/port \d+/);
    const url = `http://127.0.0.1:${/port (\d+)/.exec(said)?.[1]}/`;
    const db = file.open();
    const orders = (): unknown =>
      db.prepare("select group_concat(id) as ids from (select id from orders order by rowid)").get();
    const post = async (id: string, order: string): Promise<string | null> => {
      const data = { customer: "cus_1", client_reference_id: order };
      const signed = { id, type: "checkout.session.completed", data, secrets };
      const { headers, body } = await signedRequest("stripe", signed);
      const answer = await fetch(url, {
        method: "POST",
        headers: headers as HeadersInit,
        body: body as BodyInit,
      });
      return answer.headers.get("posthorn-verdict");
    };
    expect([await post("evt_1", "one"), await post("evt_1", "one")]).toEqual(["stored", "duplicate"]);
    await expect.poll(orders, { timeout: 10_000 }).toEqual({ ids: "one" });

    // The host's own table refuses the second order: it is given up, and the third one waits behind it.
    db.exec(
      "create trigger no_two before insert on orders when new.id = 'two' begin select raise(abort, 'no two'); end",
    );
    expect([await post("evt_2", "two"), await post("evt_3", "three")]).toEqual(["stored", "stored"]);
    await expect.poll(() => said, { timeout: 10_000 }).toMatch(/has given up/);
    expect(said).toMatch(/evt_2 failed, attempt 1: SqliteError: no two\n\s+at /);
    expect(orders()).toEqual({ ids: "one" });

    db.exec("drop trigger no_two");
    child.kill("SIGUSR2");
    await expect.poll(orders, { timeout: 10_000 }).toEqual({ ids: "one,two,three" });
    child.kill("SIGTERM");
    expect(await exited).toEqual([0, null]);
  } finally {
    child.kill("SIGKILL");
  }
}, 60_000);
