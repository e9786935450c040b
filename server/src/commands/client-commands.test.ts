import { writeFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PosthornError } from "posthorn/client";
import { afterAll, describe, expect, it } from "vitest";
import { fakeClient, page, problem } from "../../../test/cli/fake-client.js";
import { FAKE_ADDRESS, runCommand } from "../../../test/cli/run-command.js";
import {
  CONSUMER,
  DEAD,
  DELIVERY,
  ENDPOINT,
  EVENT,
  HELD,
  INBOX_ROW,
  LANES,
  REJECTED,
  SET_ASIDE,
  SOURCE,
  TOKEN,
} from "../../../test/cli/samples.js";

const directory = mkdtempSync(join(tmpdir(), "posthorn-cli-"));
afterAll(() => rmSync(directory, { recursive: true }));

function file(name: string, content: string | Uint8Array): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

describe("every list", () => {
  it.each([
    [["source", "list"], "stripe", [SOURCE]],
    [["endpoint", "list"], "ep_shop", [ENDPOINT]],
    [["events", "list"], "evt_2ZbGqk", [EVENT]],
    [["deliveries", "list", "--event", "evt_2ZbGqk"], "dlv_12_7", [DELIVERY]],
    [["lanes", "list"], "cus_9", LANES],
    [["dead", "list"], "exhausted", [DEAD]],
    [["set-aside", "list"], "refused by a trigger", [SET_ASIDE]],
    [["inbox", "list"], "stripe/in_1Q", [INBOX_ROW]],
    [["inbox", "held"], "evt_2ZbGqm", [HELD]],
    [["consumers", "list"], "hnd_billing", [CONSUMER]],
    [["rejected", "list"], "rej_7Qm2", [REJECTED]],
    [["token", "list"], "tok_4f", [TOKEN]],
  ])("%j is a table for people and one document for scripts", async (args, holds, items) => {
    const people = await runCommand(args, { columns: 100 });
    expect(people).toMatchObject({ code: 0 });
    expect(people.out).toContain(holds);
    expect(people.out.split("\n").every((line) => line.length <= 100)).toBe(true);
    const scripts = await runCommand([...args, "--json"], { columns: 100 });
    expect(JSON.parse(scripts.out)).toEqual({ items, next: null });
    expect(scripts.err).toBe("");
  });

  it.each(["source", "endpoint", "events", "lanes", "dead", "set-aside", "rejected"])(
    "of %s that is empty says so in words, and is an empty list for scripts",
    async (name) => {
      const client = fakeClient(
        Object.fromEntries(
          ["sources", "endpoints", "events", "lanes", "dead", "setAside", "rejected"].map((of) => [
            `${of}.list`,
            () => page([]),
          ]),
        ),
      );
      const people = await runCommand([name, "list"], { client });
      expect(people.out).toMatch(/^(There|Nothing) /);
      const scripts = await runCommand([name, "list", "--json"], { client });
      expect(JSON.parse(scripts.out)).toEqual({ items: [], next: null });
    },
  );

  it("goes through as many pages as are asked for, and says where to go on", async () => {
    const client = fakeClient({
      "events.list": ({ after }: { after?: string }) =>
        page([{ ...EVENT, id: `evt_${after ?? "first"}` }], after === undefined ? "c1" : "c2"),
    });
    const { out, err } = await runCommand(["events", "list", "--limit", "2", "--type", "invoice.paid"], {
      client,
    });
    expect(out).toContain("evt_first");
    expect(out).toContain("evt_c1");
    expect(err).toContain("posthorn events list --after c2");
    expect(client.calls).toEqual([
      ["events.list", expect.objectContaining({ after: undefined, limit: 2, type: "invoice.paid" })],
      ["events.list", expect.objectContaining({ after: "c1", limit: 1 })],
    ]);
  });

  it("shows hostile text as escapes", async () => {
    const hostile = { ...EVENT, type: "\u001b]0;owned\u0007", key: "\u202egnp.exe\n" };
    const client = fakeClient({ "events.list": () => page([hostile]) });
    const { out } = await runCommand(["events", "list"], { client, columns: 200, colour: true });
    expect(out).toContain("\\x1b]0;owned\\x07");
    expect(out).toContain("\\u202egnp.exe\\n");
    // What is left are our own colours.
    expect(out.split("\u001b").every((part, index) => index === 0 || /^\[\d+m/.test(part))).toBe(true);
  });
});

describe("the server's address", () => {
  it("that cannot be reached is told, with how to start one, and ends with 3", async () => {
    const client = fakeClient({
      "sources.list": () => {
        throw new PosthornError(
          "api_unreachable",
          "The server at http://127.0.0.1:8710 could not be reached (ECONNREFUSED).",
        );
      },
    });
    const { code, err } = await runCommand(["source", "list"], { client });
    expect(code).toBe(3);
    expect(err).toMatch(/127\.0\.0\.1:8710.*\n.*posthorn serve/);
  });

  it("whose token is refused ends with 4", async () => {
    const client = fakeClient({
      "sources.list": () => {
        throw problem(401, "token_unknown", "The token is not known.");
      },
    });
    expect(await runCommand(["source", "list", "--json"], { client })).toMatchObject({
      code: 4,
      out: "",
      err: expect.stringContaining('"code":"token_unknown"') as string,
    });
  });

  it("comes from flags, then the environment", async () => {
    const asked: unknown[] = [];
    const connect = (address: unknown) => {
      asked.push(address);
      return fakeClient();
    };
    await runCommand(["source", "list"], { context: { connect } });
    await runCommand(["source", "list", "--url", "https://gate.example.com/", "--token", "phk_other"], {
      context: { connect },
    });
    expect(asked).toEqual([
      { url: "http://127.0.0.1:8710", token: "phk_test" },
      { url: "https://gate.example.com", token: "phk_other" },
    ]);
  });

  it("comes from what `posthorn serve` wrote down; its token goes to no other server", async () => {
    file("cli.json", JSON.stringify({ url: "http://127.0.0.1:9999", token: "phk_written" }));
    const asked: unknown[] = [];
    const connect = (address: unknown) => {
      asked.push(address);
      return fakeClient();
    };
    const context = { connect, dataDir: directory, environment: {} };
    await runCommand(["source", "list"], { context });
    expect(asked).toEqual([{ url: "http://127.0.0.1:9999", token: "phk_written" }]);
    const other = await runCommand(["source", "list", "--url", "http://evil.example.com"], { context });
    expect(other).toMatchObject({
      code: 4,
      err: expect.stringContaining("No token is known for the server") as string,
    });
    expect(asked).toHaveLength(1);
  });

  it("that is none is a wrong use", async () => {
    expect(await runCommand(["source", "list", "--url", "localhost:8710"])).toMatchObject({ code: 2 });
  });
});

describe("source", () => {
  it("add sends what flags say and prints the URL for the provider", async () => {
    const { code, out, client } = await runCommand([
      "source",
      "add",
      "shop",
      "--scheme",
      "shopify",
      "--secret-file",
      file("shop.secret", "s3cr3t\n"),
      "--order-by",
      "json:/order_id",
      "--dedup",
      "both",
      "--exclude",
      "/sent_at",
      "--window",
      "86400",
      "--forward-header",
      "x-shopify-*",
      "--option",
      "publicUrl=https://x.example.com",
      "--option",
      "toleranceS=60",
    ]);
    expect(code).toBe(0);
    expect(client.calls).toEqual([
      [
        "sources.create",
        {
          name: "shop",
          scheme: "shopify",
          secrets: ["s3cr3t"],
          key: { json: "/order_id" },
          dedup: { by: "both", content: "json", exclude: ["/sent_at"] },
          windowS: 86_400,
          forwardHeaders: ["x-shopify-*"],
          options: { publicUrl: "https://x.example.com", toleranceS: 60 },
        },
      ],
    ]);
    expect(out).toContain("http://127.0.0.1:8710/in/");
    expect(out).not.toContain("s3cr3t");
  });

  it("add --test-secret uses the public fixture and warns of it", async () => {
    const { client, err } = await runCommand(["source", "add", "stripe", "--test-secret"]);
    expect(client.calls[0]).toMatchObject([
      "sources.create",
      { scheme: "stripe", secrets: ["whsec_posthorn_public_test_fixture"] },
    ]);
    expect(err).toContain("everybody knows");
  });

  it("update takes no secret from the environment, where somebody may have forgotten it", async () => {
    const environment = { ...FAKE_ADDRESS, POSTHORN_SECRET: "forgotten" };
    const { client } = await runCommand(["source", "update", "stripe", "--window", "86400"], {
      context: { environment },
    });
    expect(client.calls).toEqual([["sources.update", "stripe", { windowS: 86_400 }]]);
  });

  it("update refuses to change nothing, and remove asks first", async () => {
    expect(await runCommand(["source", "update", "stripe"])).toMatchObject({ code: 2 });
    const asked = await runCommand(["source", "remove", "stripe"], { columns: 80, answers: ["n"] });
    expect(asked).toMatchObject({ code: 1, err: expect.stringContaining("Nothing was changed") as string });
    expect(asked.client.calls).toEqual([]);
    const sure = await runCommand(["source", "remove", "stripe", "--yes", "--json"]);
    expect(JSON.parse(sure.out)).toEqual({ name: "stripe", removed: true });
    const script = await runCommand(["source", "remove", "stripe"]);
    expect(script).toMatchObject({ code: 2, err: expect.stringContaining("--yes") as string });
  });

  it("show tells where to send to", async () => {
    const { out } = await runCommand(["source", "show", "stripe"]);
    expect(out).toContain(`http://127.0.0.1:8710${SOURCE.path}`);
    expect(out).toContain("json:/data/object/customer");
  });
});

describe("endpoint", () => {
  it("add shows a made secret once and sends what flags say", async () => {
    const { out, client } = await runCommand([
      "endpoint",
      "add",
      "https://shop.example.com/webhooks",
      "--types",
      "invoice.*",
      "--types",
      "order.*",
      "--order",
      "endpoint",
      "--dead",
      "skip",
      "--retry",
      '{"maxAttempts":5}',
      "--max-in-flight",
      "4",
    ]);
    expect(client.calls[0]).toEqual([
      "endpoints.create",
      {
        url: "https://shop.example.com/webhooks",
        types: ["invoice.*", "order.*"],
        order: "endpoint",
        dead: "skip",
        retry: { maxAttempts: 5 },
        maxInFlight: 4,
      },
    ]);
    expect(out).toContain("whsec_shown_once_at_creation");
  });

  it("update, pause, resume, show and remove call what they say", async () => {
    for (const [args, call] of [
      [
        ["update", "ep_shop", "--to", "https://new.example.com"],
        ["endpoints.update", "ep_shop", { url: "https://new.example.com" }],
      ],
      [
        ["update", "ep_shop", "--dead", "default"],
        ["endpoints.update", "ep_shop", { dead: null }],
      ],
      [
        ["pause", "ep_shop"],
        ["endpoints.pause", "ep_shop"],
      ],
      [
        ["resume", "ep_shop"],
        ["endpoints.resume", "ep_shop"],
      ],
      [
        ["show", "ep_shop"],
        ["endpoints.get", "ep_shop"],
      ],
      [
        ["remove", "ep_shop", "-y"],
        ["endpoints.remove", "ep_shop"],
      ],
    ] as const) {
      const { code, client } = await runCommand(["endpoint", ...args]);
      expect(code).toBe(0);
      expect(client.calls).toEqual([call]);
    }
  });

  it("test shows the answer, hostile or not, and ends with 1 where it was not taken", async () => {
    expect(await runCommand(["endpoint", "test", "ep_shop"])).toMatchObject({ code: 0 });
    const client = fakeClient({
      "endpoints.test": () => ({
        eventId: "evt_t",
        outcome: "refused",
        status: 401,
        error: null,
        detail: null,
        durationMs: 12,
        answer: Buffer.from("\u001b[2Jno").toString("base64"),
      }),
    });
    const { code, out, err } = await runCommand(["endpoint", "test", "ep_shop"], { client });
    expect(code).toBe(1);
    expect(out).toContain("\\x1b[2Jno");
    expect(err).toContain("does not believe the signature");
  });

  it("with a wrong value is a wrong use, and says what was expected", async () => {
    expect(await runCommand(["endpoint", "add", "https://a.b", "--retry", "often"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("maxAttempts") as string,
    });
    expect(await runCommand(["endpoint", "add", "https://a.b", "--dead", "bury"])).toMatchObject({ code: 2 });
  });
});

describe("send", () => {
  it("publishes data with its key and id", async () => {
    const { out, client } = await runCommand([
      "send",
      "--type",
      "invoice.paid",
      "--key",
      "cus_9",
      "--id",
      "in_7",
      "--data",
      '{"amount":1999}',
      "--deliver-at",
      "15m",
      "--header",
      "X-Shop: berlin",
    ]);
    expect(client.calls).toEqual([
      [
        "events.publish",
        {
          type: "invoice.paid",
          data: { amount: 1999 },
          key: "cus_9",
          id: "in_7",
          deliverAt: "2027-01-31T12:15:00.000Z",
          headers: { "x-shop": "berlin" },
        },
        {},
      ],
    ]);
    expect(out).toBe("Published evt_2ZbGqk.\n");
  });

  it("publishes exact bytes of a file or of the standard input", async () => {
    const bytes = Buffer.from([0, 255, 10, 13]);
    const fromFile = await runCommand([
      "send",
      "--type",
      "x",
      "--body-file",
      file("body.bin", bytes),
      "--content-type",
      "application/octet-stream",
    ]);
    const fromInput = await runCommand(["send", "--type", "x", "--stdin"], { input: bytes });
    for (const { client } of [fromFile, fromInput]) {
      expect(client.calls[0]?.[1]).toMatchObject({ body: bytes.toString("base64") });
    }
  });

  it("refuses two bodies, a file that is not there and data that is no JSON", async () => {
    expect(await runCommand(["send", "--type", "a", "--data", "{}", "--stdin"])).toMatchObject({ code: 2 });
    expect(await runCommand(["send", "--type", "a", "--body-file", "/nowhere/at/all"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("is not there") as string,
    });
    expect(await runCommand(["send", "--type", "a", "--data", "{"])).toMatchObject({ code: 2 });
    expect(await runCommand(["send", "--data", "{}"])).toMatchObject({ code: 2 });
  });

  it("says when it was published before", async () => {
    const client = fakeClient({ "events.publish": () => ({ id: "in_7", duplicate: true }) });
    expect((await runCommand(["send", "--type", "a", "--id", "in_7"], { client })).out).toContain(
      "was published before",
    );
  });
});

describe("events", () => {
  it("show tells what became of it at each endpoint", async () => {
    const { out } = await runCommand(["events", "show", "evt_2ZbGqk"], { columns: 100 });
    expect(out).toContain("x-shop");
    expect(out).toMatch(/dlv_12_7\s+ep_shop\s+retrying\s+2\s+503\s+in 3 min 12 s/);
  });

  it("body is exact in a pipe and harmless on a terminal", async () => {
    const body = Buffer.from([0x7b, 0x1b, 0x5b, 0x32, 0x4a, 0xff, 0x0a, 0x7d]);
    const client = fakeClient({ "events.body": () => body });
    const piped = await runCommand(["events", "body", "evt_1"], { client });
    expect(Buffer.from(piped.terminal.outBytes())).toEqual(body);
    const seen = await runCommand(["events", "body", "evt_1"], { client, columns: 80 });
    expect(seen.out).toBe("{\\x1b[2J\ufffd\n}\n");
    const output = join(directory, "out.bin");
    await runCommand(["events", "body", "evt_1", "--output", output], { client });
    expect(readFileSync(output)).toEqual(body);
  });
});

describe("lanes and skip", () => {
  it("show says why a lane does not move and what to do", async () => {
    const { out } = await runCommand(["lanes", "show", "12"]);
    expect(out).toContain("posthorn redrive dlv_12_7");
    expect(out).toContain("posthorn skip 12");
  });

  it("skip names what it passes over before it asks", async () => {
    const { terminal, client, out } = await runCommand(["skip", "12"], { columns: 80, answers: ["y"] });
    expect(terminal.questions[0]).toContain("event evt_2ZbGqk, sequence 7");
    expect(terminal.questions[0]).toContain("40 deliveries behind it");
    expect(client.calls).toEqual([
      ["lanes.get", "12"],
      ["deliveries.get", "dlv_12_7"],
      ["lanes.skip", "12", "7"],
    ]);
    expect(out).toContain("the lane goes on");
    const underWay = fakeClient({
      "lanes.skip": () => ({ result: "intended" }),
      "lanes.get": () => LANES[1],
    });
    expect((await runCommand(["skip", "31", "--yes"], { client: underWay })).out).toContain(
      "unless this attempt succeeds",
    );
    expect(underWay.calls.at(-1)).toEqual(["lanes.skip", "31", "118"]);
  });

  it("skip of a named head asks for that one alone", async () => {
    const { client, out } = await runCommand(["skip", "12", "--head", "6", "--yes", "--json"]);
    expect(client.calls).toEqual([["lanes.skip", "12", "6"]]);
    expect(JSON.parse(out)).toEqual({ lane: "12", sequence: "6", result: "skipped" });
    const moved = await runCommand(["skip", "12", "--head", "6"], { columns: 80, answers: ["y"] });
    expect(moved).toMatchObject({
      code: 1,
      err: expect.stringContaining("The head of lane 12 is 7") as string,
    });
    expect(moved.client.calls).toEqual([["lanes.get", "12"]]);
    expect(await runCommand(["skip", "12", "--head", "first"])).toMatchObject({ code: 2 });
  });

  it("skip says that the lane has moved since it was looked at", async () => {
    const client = fakeClient({
      "lanes.skip": () => {
        throw problem(409, "lane_moved", "The head of lane 12 is 8 by now. Nothing was skipped.");
      },
    });
    const { code, err } = await runCommand(["skip", "12", "--yes"], { client });
    expect([code, err]).toEqual([1, expect.stringContaining("is 8 by now")]);
  });

  it("skip names the delivery where the event at the head is gone", async () => {
    const client = fakeClient({
      "deliveries.get": () => {
        throw problem(404, "not_found", "There is no delivery.");
      },
    });
    const { terminal } = await runCommand(["skip", "12"], { client, columns: 80, answers: ["y"] });
    expect(terminal.questions[0]).toContain("Pass over dlv_12_7, sequence 7");
    expect(client.calls.at(-1)).toEqual(["lanes.skip", "12", "7"]);
  });
});

describe("dead", () => {
  it("list keeps to what flags name, over as many pages as it takes", async () => {
    const client = fakeClient({
      "dead.list": ({ after }: { after?: string }) =>
        after === undefined ? page([{ ...DEAD, type: "order.sent" }], "c1") : page([DEAD]),
    });
    const flags = ["--endpoint", "ep_shop", "--type", DEAD.type, "--limit", "1", "--json"];
    const { out } = await runCommand(["dead", "list", ...flags], { client });
    expect((JSON.parse(out) as { items: unknown[] }).items).toEqual([DEAD]);
    expect(client.calls[0]).toEqual(["dead.list", expect.objectContaining({ endpoint: "ep_shop" })]);
  });
});

describe("set-aside", () => {
  it("redrive says what came of it, also where the event was deleted", async () => {
    const { out, client } = await runCommand(["set-aside", "redrive", "12"]);
    expect(client.calls).toEqual([["setAside.redrive", "12"]]);
    expect(out).toContain("given its places now");
    const gone = fakeClient({ "setAside.redrive": () => ({ result: "event_missing" }) });
    expect((await runCommand(["set-aside", "redrive", "12"], { client: gone })).out).toContain("was deleted");
    const scripts = await runCommand(["set-aside", "redrive", "12", "--json"]);
    expect(JSON.parse(scripts.out)).toEqual({ id: "12", result: "staged" });
  });
});

describe("token", () => {
  it("create shows the token once, with what it may do", async () => {
    const { out, err, client } = await runCommand(["token", "create", "ci", "--read", "--expires", "90d"]);
    expect(client.calls).toEqual([
      ["tokens.create", { name: "ci", scope: "read", expiresAt: "2027-05-01T12:00:00.000Z" }],
    ]);
    expect(out).toContain("phk_shown_once");
    expect(err).toContain("not shown again");
  });

  it("revoke asks first", async () => {
    expect(await runCommand(["token", "revoke", "tok_4f"])).toMatchObject({ code: 2 });
    const { client } = await runCommand(["token", "revoke", "tok_4f", "--yes"]);
    expect(client.calls).toEqual([["tokens.remove", "tok_4f"]]);
  });
});

it("rejected show has the diagnosis, said once", async () => {
  const { out } = await runCommand(["rejected", "show", "rej_7Qm2"]);
  expect(out.split("parsed and written again")).toHaveLength(2);
  expect(out).toContain("→ ");
});

describe("help", () => {
  it("of every command has an example and the flags that all share", async () => {
    for (const args of [
      ["send"],
      ["source", "add"],
      ["lanes", "list"],
      ["trigger"],
      ["redrive"],
      ["token", "create"],
    ]) {
      const { out, code } = await runCommand([...args, "--help"]);
      expect(code).toBe(0);
      expect(out).toMatch(/Examples?:\n  posthorn /);
      for (const flag of ["--json", "--url", "--token"]) expect(out).toContain(flag);
    }
  });
});
