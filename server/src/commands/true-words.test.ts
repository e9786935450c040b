import { PosthornError } from "posthorn/client";
import { describe, expect, it } from "vitest";
import { fakeClient, page } from "../../../test/cli/fake-client.js";
import { runCommand } from "../../../test/cli/run-command.js";
import {
  DEAD,
  DELIVERY,
  ENDPOINT,
  EVENT,
  LANES,
  REJECTED,
  SOURCE,
  TOKEN,
} from "../../../test/cli/samples.js";

// What commands say where the plain guess would be wrong.

describe("an event without a tenant", () => {
  it("is shown with its tenant in the list where there is more than the default one", async () => {
    const events = [EVENT, { ...EVENT, id: "evt_other", tenant: "acme" }];
    const { out } = await runCommand(["events", "list"], {
      client: fakeClient({ "events.list": () => page(events) }),
    });
    expect(out).toMatch(/^ID +TENANT +SOURCE/);
    expect(out).toMatch(/evt_other +acme/);
    const alone = await runCommand(["events", "list"], {
      client: fakeClient({ "events.list": () => page([EVENT]) }),
    });
    expect(alone.out).not.toContain("TENANT");
  });

  it("that several tenants have is asked for by --tenant", async () => {
    const client = fakeClient({
      "events.get": () => {
        throw new PosthornError("api_refused", "2 tenants have it.", {
          detail: {
            type: "about:blank",
            title: "",
            status: 400,
            code: "request_invalid",
            detail: "",
            field: "tenant",
          },
        });
      },
    });
    const { err, code } = await runCommand(["events", "show", "evt_1"], { client });
    expect([code, err]).toEqual([1, expect.stringContaining("Name it with --tenant.")]);
  });

  it("is hinted at with its tenant after it was published", async () => {
    const client = fakeClient({ "events.publish": () => ({ id: "evt_1", duplicate: false }) });
    const { err } = await runCommand(["send", "--type", "order.paid", "--tenant", "acme"], {
      client,
      columns: 200,
    });
    expect(err).toContain("posthorn events show evt_1 --tenant acme");
  });

  it("is not said to be unmatched where it may not have been taken yet", async () => {
    const client = fakeClient({ "deliveries.list": () => page([]) });
    const { out } = await runCommand(["deliveries", "list", "--event", "evt_1"], { client });
    expect(out).toContain("no node with the role dispatch has taken it yet (`posthorn doctor`)");
  });
});

describe("a delivery that was never tried and has no time", () => {
  const waiting = { ...DELIVERY, state: "waiting", dueInMs: null, attempts: 0, lastStatus: null } as const;
  const show = async (endpoint: object, headId: string): Promise<string> => {
    const client = fakeClient({
      "deliveries.get": () => waiting,
      "deliveries.attempts": () => page([]),
      "endpoints.get": () => ({ ...ENDPOINT, ...endpoint }),
      "lanes.get": () => ({ ...LANES[0], headId }),
    });
    return (await runCommand(["deliveries", "show", waiting.id], { client })).out;
  };

  it("waits for its endpoint where that is disabled or paused, at the head of its lane or not", async () => {
    const said = await show({ state: "disabled", because: "it answered 410" }, waiting.id);
    expect(said).toContain("its endpoint is disabled (it answered 410)");
    expect(said).toContain(`posthorn endpoint resume ${waiting.endpointId}`);
    expect(said).not.toContain("Others of its lane");
    expect(await show({ state: "paused" }, "dlv_1_1")).toContain("its endpoint is paused.");
  });

  it("waits for others only where others are before it", async () => {
    expect(await show({}, "dlv_1_1")).toContain("Others of its lane are before it");
    expect(await show({}, waiting.id)).not.toContain("Others of its lane");
  });
});

it("a conflict, whose signature is right, is not explained as a wrong secret", async () => {
  const conflict = {
    ...REJECTED,
    code: "conflict",
    message: "It was stored before with another body.",
    diagnosis: [],
  };
  const { out } = await runCommand(["rejected", "show", "rej_1"], {
    client: fakeClient({ "rejected.get": () => conflict }),
  });
  expect(out).toContain("It was stored before with another body.");
  expect(out).not.toContain("wrong secret");
  const unsigned = { ...conflict, code: "signature_mismatch" };
  const other = await runCommand(["rejected", "show", "rej_1"], {
    client: fakeClient({ "rejected.get": () => unsigned }),
  });
  expect(other.out).toContain("a wrong secret looks like this");
});

it.each(["store_unavailable", "not_ready"])(
  "a server whose database is away is not to be started again: %s",
  async (code) => {
    const client = fakeClient({
      "sources.list": () => {
        throw new PosthornError("api_unavailable", "away", {
          detail: { type: "about:blank", title: "", status: 503, code, detail: "away" },
        });
      },
    });
    const { err, code: exit } = await runCommand(["source", "list"], { client });
    expect([exit, err]).toEqual([3, expect.stringContaining("The server runs, and its database does not.")]);
    expect(err).not.toContain("Start a server");
  },
);

it("a pattern as a filter of dead letters is refused: it would find nothing, without a word", async () => {
  for (const args of [
    ["dead", "list", "--type", "order.*"],
    ["redrive", "--all", "--type", "order.*"],
  ]) {
    const { code, err, client } = await runCommand(args, { columns: 200 });
    expect([code, err]).toEqual([2, expect.stringContaining("compared as a whole")]);
    expect(client.calls).toEqual([]);
  }
});

it("lanes and dead letters are shown with their tenant where there is more than the default one", async () => {
  const lanes = fakeClient({ "lanes.list": () => page([{ ...LANES[0], tenant: "acme" }]) });
  expect((await runCommand(["lanes", "list"], { client: lanes, columns: 200 })).out).toMatch(
    /^LANE +TENANT[^]*acme/,
  );
  const dead = fakeClient({ "dead.list": () => page([{ ...DEAD, tenant: "acme" }]) });
  expect((await runCommand(["dead", "list"], { client: dead, columns: 200 })).out).toMatch(
    /^DELIVERY +TENANT[^]*acme/,
  );
  expect((await runCommand(["lanes", "list"])).out).not.toContain("TENANT");
});

it("a source that is removed is said to be answered as it is: like a wrong signature", async () => {
  const { terminal } = await runCommand(["source", "remove", "stripe"], { columns: 200, answers: ["n"] });
  expect(terminal.questions.join()).toContain("401");
});

it("a source of a server with a public_url is added with the address to paste", async () => {
  const made = { ...SOURCE, url: "https://hooks.example.com/in/stripe" };
  const client = fakeClient({ "sources.create": () => made, "sources.get": () => made });
  const added = await runCommand(["source", "add", "stripe", "--secret", "whsec_x"], {
    client,
    columns: 200,
  });
  expect(added.out).toContain("\nhttps://hooks.example.com/in/stripe\n");
  expect((await runCommand(["source", "show", "stripe"], { client, columns: 200 })).out).toContain(made.url);
  expect((await runCommand(["source", "show", "stripe"], { columns: 200 })).out).toContain(
    "127.0.0.1:8710/in/",
  );
});

it("tokens are listed by fingerprints, by which a leaked one is known", async () => {
  const { out } = await runCommand(["token", "list"], { columns: 200 });
  expect(out).toContain("FINGERPRINT");
  expect(out).toContain(TOKEN.fingerprint);
});
