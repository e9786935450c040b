import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { signedRequest, TEST_SECRETS } from "posthorn/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runProgram } from "../packed/run-program.js";
import { freshDatabase } from "../services.js";
import { generatePrisma } from "./generate-prisma.js";

// The files of the example, without Next.js: its route is a function of a Request. With Next.js,
// test/hosts/built/next.test.ts runs all of it.

const lane = fileURLToPath(new URL("./", import.meta.url));
const root = join(lane, "../..");
mkdirSync(join(lane, ".cache"), { recursive: true });
const folder = mkdtempSync(join(lane, ".cache/next-prisma-"));

const WRONG = `import { receiver } from "./receiver";
import { PrismaClient } from "./generated/prisma/client";
declare const prisma: PrismaClient;
void prisma.invoice.create({ data: { id: 7, customerId: "cus_1", paidCents: 1 } });
void receiver.receive("paypal", { headers: {}, body: new Uint8Array() });
`;

interface Route {
  readonly POST: (request: Request) => Promise<Response>;
}

const url = await freshDatabase();
const host = new Client({ connectionString: url });

beforeAll(async () => {
  cpSync(join(root, "examples/next-prisma"), folder, { recursive: true });
  await generatePrisma(join(lane, "node_modules"), join(folder, "prisma/schema.prisma"));
  await host.connect();
}, 60_000);
afterAll(async () => {
  await host.end();
  rmSync(folder, { recursive: true });
});

describe("the example next-prisma", () => {
  it("compiles strictly, with the client that `prisma generate` writes", { timeout: 120_000 }, async () => {
    const { compilerOptions } = JSON.parse(readFileSync(join(folder, "tsconfig.json"), "utf8")) as {
      readonly compilerOptions: Readonly<Record<string, unknown>>;
    };
    const { plugins: _, incremental: __, ...own } = compilerOptions;
    const paths = {
      "#crypto": [join(root, "library/src/signature/crypto/crypto-node.ts")],
      "#faults": [join(root, "library/src/faults-off.ts")],
      posthorn: [join(root, "library/src/index.ts")],
      "posthorn/*": [join(root, "library/src/*.ts")],
    };
    const config = { compilerOptions: { ...own, paths, types: ["node"] }, include: ["**/*.ts"] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
    writeFileSync(join(folder, "wrong.ts"), WRONG);
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const { out } = await runProgram(process.execPath, [tsc, "-p", folder], { cwd: folder });
    const messages = out.split("\n").filter((line) => /^\S/.test(line));
    expect(messages).toEqual([
      expect.stringMatching(
        /^wrong\.ts\(4,\d+\): error TS2322: Type 'number' is not assignable to type 'string'/,
      ),
      expect.stringMatching(/^wrong\.ts\(5,\d+\): error TS2345: Argument of type '"paypal"'/),
    ]);
  });

  it("has a route that takes no part of a failed event, and a retry once", async () => {
    await host.query(`
      create table public.customer (id text primary key);
      create table public.invoice (id text primary key, paid_cents integer, customer_id text references public.customer)`);
    process.env["DATABASE_URL"] = url;
    process.env["STRIPE_WEBHOOK_SECRET"] = TEST_SECRETS.stripe.verifying;
    const { POST } = (await import(join(folder, "app/webhooks/[source]/route.ts"))) as Route;
    const data = { id: "in_7", customer: "cus_1", amount_paid: 14_900 };
    const { headers, body } = await signedRequest("stripe", { id: "evt_1", type: "invoice.paid", data });
    const deliver = async (): Promise<unknown[]> => {
      const request = new Request("http://127.0.0.1/webhooks/stripe", { method: "POST", headers, body });
      const reply = await POST(request);
      const { rows } = await host.query<{ id: string }>("select id from public.invoice");
      return [reply.status, reply.headers.get("posthorn-verdict"), ...rows.map(({ id }) => id)];
    };
    expect(await deliver()).toEqual([500, "failed"]);
    await host.query("insert into public.customer (id) values ('cus_1')");
    expect(await deliver()).toEqual([200, "applied", "in_7"]);
    expect(await deliver()).toEqual([200, "duplicate", "in_7"]);
  });
});
