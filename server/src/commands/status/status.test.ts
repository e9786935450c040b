import type { Story, TailGap, TailMessage } from "posthorn/client";
import { describe, expect, it } from "vitest";
import { fakeClient, problem } from "../../../../test/cli/fake-client.js";
import { runCommand } from "../../../../test/cli/run-command.js";
import { DELIVERY, LANES, REJECTED, STATUS } from "../../../../test/cli/samples.js";

describe("status", () => {
  it("says what is wrong in one sentence, and what to look at next", async () => {
    const { code, out, err } = await runCommand(["status"], { columns: 100 });
    expect(code).toBe(0);
    expect(out.split("\n")[0]).toBe(STATUS.sentence);
    expect(out).toContain("halted: ep_shop · cus_9");
    expect(out).toMatch(/ep_shop +halted +12 +3 +40 ms +41 +2 h 5 min/);
    expect(err).toContain("See why: posthorn why 12");
    expect(JSON.parse((await runCommand(["status", "--json"])).out)).toEqual(STATUS);
  });

  it("says of a node that has not been seen for a while that it is not, though it is listed", async () => {
    const nodes = [STATUS.nodes[0], { ...STATUS.nodes[0], name: "node-2", seenMs: 43_000 }];
    const { out } = await runCommand(["status"], {
      client: fakeClient({ status: () => ({ ...STATUS, nodes }) }),
    });
    expect(out).toMatch(
      /node-1 \(ingest, dispatch, api\), node-2 \(ingest, dispatch, api; not seen for 43 s\)/,
    );
  });

  it("--check ends with 1 where something needs a person", async () => {
    expect((await runCommand(["status", "--check"])).code).toBe(1);
    const well = fakeClient({
      status: () => ({ ...STATUS, ok: true, needs: [], sentence: "Nothing is stuck." }),
    });
    expect((await runCommand(["status", "--check"], { client: well })).code).toBe(0);
  });
});

const STEP = {
  at: "2027-01-31T11:58:00.000Z",
  afterMs: null,
  future: false,
  endpointId: null,
  deliveryId: null,
  round: null,
  attempt: null,
  outcome: null,
  status: null,
  durationMs: null,
};

const STORY = {
  foundBy: "provider_id",
  event: { id: "evt_2ZbGqk", source: "stripe", type: "invoice.paid", key: "cus_9", bodyBytes: 1434 },
  steps: [
    { ...STEP, kind: "received", text: "received from stripe" },
    { ...STEP, kind: "attempt", text: "attempt 1 at ep_shop: 503 in 16 ms", afterMs: 4000 },
    { ...STEP, kind: "next_attempt", text: "attempt 2 at ep_shop, in 4 s", future: true },
  ],
  deliveries: [{ endpointId: "ep_shop", sentence: "It is tried again in 4 s." }],
} as unknown as Story;

const found = (kind: string, id: string) => ({
  items: [{ kind, id, tenant: "default", text: "", foundBy: "id" }],
});

describe("why", () => {
  it("tells the story of an event by whatever id a customer has, the future included", async () => {
    const client = fakeClient({ search: () => found("event", "evt_2ZbGqk"), story: () => STORY });
    const { out } = await runCommand(["why", "in_1PX"], { client, columns: 120 });
    expect(out).toMatch(/11:58:00\.000 +\+4 s +attempt 1 at ep_shop: 503/);
    expect(out).toContain("still to come");
    expect(out).toContain("ep_shop: It is tried again in 4 s.");
    expect(client.calls).toEqual([
      ["search", "in_1PX", expect.anything()],
      ["story", "evt_2ZbGqk", { tenant: "default" }],
    ]);
  });

  it("says why a lane stands, and what can be done", async () => {
    const [lane] = LANES;
    const client = fakeClient({
      search: () => found("lane", "12"),
      "lanes.waiting": () => ({
        lane,
        sentence: "It stopped because #7 was given up.",
        before: [],
        first: [{ sequence: "7", eventId: "evt_1", type: "invoice.paid", state: "dead" }],
        between: "38",
        last: [],
      }),
    });
    const { out } = await runCommand(["why", "12"], { client });
    expect(out).toContain("It stopped because #7 was given up.");
    expect(out).toContain("… 38 more …");
    expect(out).toContain("Send it again: posthorn redrive dlv_12_7");
  });

  it("says why a request was rejected, and how an endpoint stands", async () => {
    const rejected = fakeClient({ search: () => found("rejected", REJECTED.id) });
    expect((await runCommand(["why", REJECTED.id], { client: rejected })).out).toContain(
      "The body was parsed and written again",
    );
    const endpoint = fakeClient({ search: () => found("endpoint", "ep_shop") });
    expect((await runCommand(["why", "ep_shop"], { client: endpoint })).out).toContain(
      "40 events behind it, 2 h 5 min",
    );
  });

  it("--json and --url are no filters of the search, and print the story as it is", async () => {
    const client = fakeClient({ search: () => found("event", "evt_2ZbGqk"), story: () => STORY });
    const { code, out } = await runCommand(["why", "in_1PX", "--json"], { client });
    expect([code, JSON.parse(out)]).toEqual([0, STORY]);
    expect(client.calls[0]).toEqual(["search", "in_1PX", {}]);
  });

  it("of an id that several tenants have asks for the tenant", async () => {
    const items = ["default", "acme"].map((tenant) => ({
      kind: "event",
      id: "order-1",
      tenant,
      text: "",
      foundBy: "id",
    }));
    const client = fakeClient({ search: () => ({ items }) });
    const { code, err } = await runCommand(["why", "order-1"], { client });
    expect([code, err]).toEqual([1, expect.stringMatching(/default, acme.*\n.*--tenant/)]);
  });

  it("of an endpoint that fails says what it answers, and what to paste when it is back", async () => {
    const [lane] = LANES;
    const standing = { ...STATUS.endpoints[0], state: "failing" };
    const client = fakeClient({
      search: () => found("endpoint", "ep_shop"),
      status: () => ({ ...STATUS, needs: [], endpoints: [standing] }),
      "lanes.list": () => ({ items: [{ ...lane, state: "retrying" }], next: null }),
      "deliveries.get": () => ({ ...DELIVERY, attempts: 3, lastStatus: 503 }),
    });
    const { out } = await runCommand(["why", "ep_shop"], { client, columns: 200 });
    expect(out).toContain("has failed 3 times: the endpoint answered 503, which says");
    expect(out).toContain("posthorn retry --endpoint ep_shop");
  });

  it("of an endpoint that is stopped, or a source that rejects, names the command that goes on", async () => {
    const stopped = { ...STATUS.endpoints[0], state: "disabled", configured: "disabled" };
    const endpoint = fakeClient({
      search: () => found("endpoint", "ep_shop"),
      status: () => ({ ...STATUS, needs: [], endpoints: [stopped] }),
      "lanes.list": () => ({ items: [], next: null }),
    });
    expect((await runCommand(["why", "ep_shop"], { client: endpoint })).out).toContain(
      "posthorn endpoint resume ep_shop",
    );
    const source = fakeClient({
      search: () => found("source", "stripe"),
      status: () => ({ ...STATUS, needs: [], sources: [{ ...STATUS.sources[0], state: "rejecting" }] }),
    });
    expect((await runCommand(["why", "stripe"], { client: source })).out).toContain(
      "posthorn rejected retry --source stripe",
    );
  });

  it("of something unknown ends with 1 and says what ids there are", async () => {
    const client = fakeClient({ search: () => ({ items: [] }) });
    expect(await runCommand(["why", "nothing"], { client })).toMatchObject({ code: 1 });
  });
});

describe("tail", () => {
  const message: TailMessage = {
    id: "node-1.1",
    at: "2027-01-31T11:58:00.123Z",
    kind: "attempted",
    source: null,
    endpointId: "ep_shop",
    type: "invoice.paid",
    eventId: "evt_1",
    attempt: 2,
    outcome: "refused",
    status: 503,
    error: null,
    durationMs: 16,
    because: null,
    code: null,
  };
  async function* told(): AsyncGenerator<TailMessage | TailGap> {
    await Promise.resolve();
    yield message;
    yield { ...message, outcome: "acknowledged", status: 200 };
    yield { ...message, kind: "dead", because: "exhausted", type: "\u001b[2Jinvoice" };
    yield { kind: "gap", lost: 12 };
  }

  it("prints a line for each message, and says what was missed", async () => {
    const client = fakeClient({ tail: told });
    const { out } = await runCommand(["tail", "--kind", "attempted", "--kind", "dead"], { client });
    expect(out.split("\n")).toEqual([
      "11:58:00.123  failed     invoice.paid  evt_1  ep_shop, attempt 2: 503 in 16 ms",
      "11:58:00.123  landed     invoice.paid  evt_1  ep_shop, attempt 2: 200 in 16 ms",
      "11:58:00.123  dead       \\x1b[2Jinvoice  evt_1  ep_shop: exhausted",
      "12 messages were missed in between.",
      "",
    ]);
    expect(client.calls[0]).toEqual([
      "tail",
      expect.objectContaining({ kind: ["attempted", "dead"] }),
      expect.anything(),
    ]);
  });

  it("--json prints one document for each line", async () => {
    const { out } = await runCommand(["tail", "--json"], { client: fakeClient({ tail: told }) });
    expect(
      out
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as { kind: string }).kind),
    ).toEqual(["attempted", "attempted", "dead", "gap"]);
  });
});

it.each([
  [["events", "show", "in_1PX"], "events.get", "posthorn why in_1PX"],
  [["deliveries", "show", "dlv_9_9"], "deliveries.get", "posthorn dead list"],
  [["lanes", "show", "9"], "lanes.get", "posthorn lanes list"],
])("%j that finds nothing says where else to look", async (args, call, says) => {
  const client = fakeClient({
    [call]: () => {
      throw problem(404, "not_found", "There is no such thing.");
    },
  });
  const { code, err } = await runCommand(args, { client, columns: 200 });
  expect([code, err]).toEqual([1, expect.stringContaining(says)]);
});

it("tail of an endpoint that there is not ends at once", async () => {
  const client = fakeClient({
    tail: () => {
      throw new Error("nobody should wait");
    },
    "endpoints.get": () => {
      throw problem(404, "not_found", 'There is no endpoint "nosuch".');
    },
  });
  const { code, err } = await runCommand(["tail", "--endpoint", "nosuch"], { client });
  expect([code, err]).toEqual([1, expect.stringContaining('There is no endpoint "nosuch".')]);
});

describe("operations", () => {
  it.each([
    [["list"], "op_1"],
    [["show", "op_1"], "3 of 3, at most 100 a second"],
    [["run", "op_1", "--rate", "20"], "Redriven: 3 deliveries."],
    [["stop", "op_1"], "Stopping after 2 of 3."],
    [["rate", "op_1", "--rate", "5"], "At most 5 a second from now on."],
  ])("%j", async (args, says) => {
    const { code, out } = await runCommand(["operations", ...args], { columns: 120 });
    expect([code, out.includes(says)]).toEqual([0, true]);
  });
});

describe("dead groups", () => {
  it("are counted by endpoint, reason and answer, with their notes", async () => {
    const { out } = await runCommand(["dead", "groups"], { columns: 140 });
    expect(out).toMatch(/ep_shop +exhausted +503 +84 .*ops: their database moved, back at 10/);
  });

  it("take a note, and give it back", async () => {
    const group = "ep_shop.exhausted.503.none";
    const { out, client } = await runCommand(["dead", "note", group, "they", "know"]);
    expect(out).toBe("Noted.\n");
    expect(client.calls).toEqual([["dead.note", group, "they know"]]);
    expect((await runCommand(["dead", "note", group, "--remove"])).out).toBe("The note is gone.\n");
    expect((await runCommand(["dead", "note", group])).code).toBe(2);
  });
});
