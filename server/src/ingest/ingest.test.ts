import { createHmac } from "node:crypto";
import type { IncomingEvent, Ingested, Reply } from "posthorn";
import type { SourceInput } from "posthorn/client";
import { createFakeClock, signedRequest, TEST_SECRETS, TEST_WEBHOOK_ID } from "posthorn/testing";
import type { FakeClock, ProviderName, SignedRequestOptions } from "posthorn/testing";
import { describe, expect, it } from "vitest";
import { Activity } from "../observe/activity.js";
import type { RejectedRecord } from "../store/rejected-request.js";
import type { SourceRecord } from "../store/source.js";
import { checkSource } from "./check-source.js";
import { createIngest } from "./ingest.js";
import type { Ingest, IngestParts } from "./ingest.js";
import type { ReceivedRequest } from "./received-request.js";

/** What of an outbox ingest uses, in memory: the rules of the port, and nothing of its durability. */
class Outbox {
  readonly stored: IncomingEvent[] = [];
  readonly names = new Map<string, { readonly id: string; readonly bodyHash: string }>();
  down: Error | undefined;
  /** Calls that wait for the next commit; undefined = each is answered at once. */
  held: (() => void)[] | undefined;
  forgets = 0;

  async ingest(incoming: IncomingEvent): Promise<Ingested> {
    const { held } = this;
    if (held !== undefined) await new Promise<void>((resolve) => held.push(resolve));
    if (this.down !== undefined) throw this.down;
    for (const { name, bodyHash } of incoming.names) {
      const known = this.names.get(name);
      if (known === undefined) continue;
      return { kind: known.bodyHash === String(bodyHash) ? "duplicate" : "conflict", id: known.id };
    }
    const { id } = incoming.event;
    for (const { name, bodyHash } of incoming.names) this.names.set(name, { id, bodyHash: String(bodyHash) });
    this.stored.push(incoming);
    return { kind: "stored", id };
  }

  forgetNames(): Promise<number> {
    this.forgets++;
    return Promise.resolve(0);
  }
}

class Registry {
  readonly sources = new Map<string, SourceRecord>();
  readonly rejected: RejectedRecord[] = [];
  readonly listeners: (() => void)[] = [];
  looks = 0;
  version = 1;
  down: Error | undefined;

  sourcesVersion(): Promise<string> {
    this.looks++;
    return this.down === undefined ? Promise.resolve(String(this.version)) : Promise.reject(this.down);
  }

  listSources({ after = "", limit }: { after?: string | undefined; limit: number }): Promise<SourceRecord[]> {
    const sorted = [...this.sources.values()].toSorted((left, right) => (left.name < right.name ? -1 : 1));
    return Promise.resolve(sorted.filter(({ name }) => name > after).slice(0, limit));
  }

  onSourcesChanged(listener: () => void): () => void {
    this.listeners.push(listener);
    return () => undefined;
  }

  recordRejected(requests: readonly RejectedRecord[]): Promise<void> {
    this.rejected.push(...requests);
    return Promise.resolve();
  }
}

interface Bench {
  readonly ingest: Ingest;
  readonly outbox: Outbox;
  readonly registry: Registry;
  readonly clock: FakeClock;
  readonly counted: string[];
  readonly logged: string[];
  dropped: number;
  /** Adds a source, on this node or on another. */
  readonly add: (input: SourceInput, elsewhere?: boolean) => void;
  readonly post: (source: string, request: ReceivedRequest) => Promise<Reply>;
}

async function bench({
  behindProxy = false,
  publicUrl,
  ...sources
}: { behindProxy?: boolean; publicUrl?: string; inputs?: SourceInput[] } = {}): Promise<Bench> {
  const [outbox, registry, clock] = [new Outbox(), new Registry(), createFakeClock()];
  const logged: string[] = [];
  const note = (_facts: unknown, text?: string): void => void logged.push(text ?? "");
  const made: Bench = {
    ingest: undefined as never,
    outbox,
    registry,
    clock,
    counted: [],
    logged,
    dropped: 0,
    add: (input, elsewhere = false) => {
      registry.sources.set(input.name, checkSource(input, clock, publicUrl));
      registry.version++;
      if (!elsewhere) for (const listener of registry.listeners) listener();
    },
    post: async (source, request) => made.ingest.receive(source, request),
  };
  const parts = {
    outbox,
    registry,
    clock,
    settings: {
      maxBodyBytes: 1_048_576,
      rejectedPerSource: 100,
      rejectedBodyBytes: 64,
      sourcePollMs: 1000,
      behindProxy,
      publicUrl,
    },
    metrics: {
      ingested: (source: string, verdict: string) => made.counted.push(`${source} ${verdict}`),
      rejectedDropped: (count: number) => (made.dropped += count),
    },
    activity: new Activity("node-1", clock),
    log: { debug: note, info: note, warn: note, error: note },
  };
  const ingest = createIngest(parts as unknown as IngestParts);
  Object.assign(made, { ingest });
  for (const input of sources.inputs ?? []) made.add(input);
  await ingest.refresh();
  return made;
}

const GITHUB: SourceInput = { name: "github", scheme: "github", secrets: ["long enough to be a secret"] };
const STRIPE: SourceInput = { name: "stripe", scheme: "stripe", secrets: [TEST_SECRETS.stripe.verifying] };

async function signed(provider: ProviderName, options: SignedRequestOptions = {}): Promise<ReceivedRequest> {
  const { headers, body, method, url } = await signedRequest(provider, options);
  const { host, pathname, search } = new URL(url);
  return { headers: { ...headers, host }, body, method, url: pathname + search };
}

function withoutSignature(headers: ReceivedRequest["headers"]): ReceivedRequest["headers"] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !/token|authorization/.test(name)));
}

const unsigned = (body: string, headers = {}): ReceivedRequest => ({
  headers,
  body: new TextEncoder().encode(body),
  method: "POST",
  url: "/in/open",
});

const headersOf = ({ headers }: Reply): Readonly<Record<string, string>> => headers ?? {};

describe("headers that stand twice", () => {
  it("a second id header is refused and kept as rejected: joined, the two would be one id that nobody sent", async () => {
    const github: SourceInput = {
      name: "github",
      scheme: "github",
      secrets: [TEST_SECRETS.github.verifying],
    };
    const { post, outbox, registry, ingest } = await bench({ inputs: [github] });
    const { headers, ...request } = await signed("github");
    const raw = Object.entries(headers).flatMap(([name, value]) => [name, String(value)]);
    const rawHeaders = [...raw, "X-GitHub-Delivery", "another"];
    expect(await post("github", { ...request, headers, rawHeaders })).toEqual({ status: 401 });
    expect(outbox.stored).toEqual([]);
    await ingest.stop();
    expect(registry.rejected.map(({ code }) => code)).toEqual(["header_malformed"]);
    expect(await post("github", { ...request, headers, rawHeaders: raw })).toMatchObject({ status: 200 });
  });
});

describe("ingest", () => {
  it("stores an event that comes five times at once one time, and tells all five its id", async () => {
    const { post, outbox, clock, counted } = await bench({ inputs: [STRIPE] });
    const request = await signed("stripe", { id: "evt_1", type: "invoice.paid", clock });
    const replies = await Promise.all(Array.from({ length: 5 }, () => post("stripe", request)));
    expect(outbox.stored).toHaveLength(1);
    const { event, names, windowS } = outbox.stored[0] as IncomingEvent;
    expect(event).toMatchObject({
      source: "stripe",
      tenant: "default",
      type: "invoice.paid",
      idGiven: false,
      body: request.body,
      contentType: "application/json",
      headers: undefined,
      key: undefined,
    });
    expect(event.id).toMatch(/^evt_[0-9a-z]{26}$/);
    expect(names).toEqual([{ name: "stripe/id/evt_1", bodyHash: undefined }]);
    expect(windowS).toBe(1_209_600);
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(replies.map((reply) => String(headersOf(reply)["posthorn-verdict"])).toSorted()).toEqual([
      ...Array.from({ length: 4 }, () => "duplicate"),
      "stored",
    ]);
    expect(new Set(replies.map((reply) => headersOf(reply)["posthorn-event"]))).toEqual(new Set([event.id]));
    expect(counted.toSorted()).toEqual([
      ...Array.from({ length: 4 }, () => "stripe duplicate"),
      "stripe stored",
    ]);
  });

  const all = Object.keys(TEST_SECRETS) as ProviderName[];
  it.each(all)("takes what %s signs, and nothing that is changed", async (scheme) => {
    const secrets = [TEST_SECRETS[scheme].verifying];
    const options =
      scheme === "paypal"
        ? { webhookId: TEST_WEBHOOK_ID }
        : ["twilio", "square", "hubspot", "http_signature"].includes(scheme)
          ? { publicUrl: "https://example.com" }
          : {};
    const { post, outbox, clock, registry, ingest } = await bench({
      inputs: [{ name: "any", scheme, secrets, options }],
    });
    const request = await signed(scheme, { clock });
    expect(await post("any", request)).toMatchObject({ headers: { "posthorn-verdict": "stored" } });
    expect(await post("any", request)).toMatchObject({ headers: { "posthorn-verdict": "duplicate" } });
    // Its slice of the request, where that is a list.
    const whole = Buffer.from(request.body).toString();
    expect(whole.replace(/^(?:\{"events":)?\[(.*)\]\}?$/s, "$1")).toBe(
      Buffer.from(outbox.stored[0]?.event.body ?? []).toString(),
    );
    const changed = { ...request, headers: withoutSignature(request.headers), body: Uint8Array.of(1, 2, 3) };
    expect(await post("any", changed)).toEqual({ status: 401 });
    expect(outbox.stored).toHaveLength(1);
    await ingest.stop();
    expect(registry.rejected).toMatchObject([{ source: "any", body: Uint8Array.of(1, 2, 3), bodyBytes: 3 }]);
  });

  it("verifies a signed URL without publicUrl by the name that the provider called", async () => {
    const { post, clock } = await bench({
      behindProxy: true,
      inputs: [{ name: "sms", scheme: "twilio", secrets: [TEST_SECRETS.twilio.verifying] }],
    });
    const request = await signed("twilio", { url: "https://hooks.example.com/in/sms", clock });
    expect(await post("sms", request)).toMatchObject({ status: 200 });
    const whole = { ...request, url: "https://hooks.example.com/in/sms" };
    expect(await post("sms", whole)).toMatchObject({ headers: { "posthorn-verdict": "duplicate" } });
    expect(await post("sms", { ...request, url: "/in/other" })).toEqual({ status: 401 });
  });

  it("takes no request that was signed by a shared key for another receiver, whatever host the request names", async () => {
    const secrets = [TEST_SECRETS.http_signature.verifying];
    const { post, clock } = await bench({
      publicUrl: "https://hooks.example.com/posthorn",
      inputs: [{ name: "kms", scheme: "http_signature", secrets }],
    });
    const own = await signed("http_signature", {
      url: "https://hooks.example.com/posthorn/in/kms?a=1",
      clock,
    });
    // The proxy takes the first part of the path away.
    expect(await post("kms", { ...own, url: "/in/kms?a=1" })).toMatchObject({ status: 204 });
    const others = await signed("http_signature", { url: "https://other.example/posthorn/in/kms", clock });
    expect(await post("kms", { ...others, url: "/in/kms" })).toEqual({ status: 401 });
    expect(await post("kms", others)).toEqual({ status: 401 });
  });

  it("answers a conflict as the scheme wants it, stores nothing, and keeps the request apart", async () => {
    const { post, outbox, registry, ingest, clock } = await bench({
      inputs: [
        { name: "std", scheme: "standard_webhooks", secrets: [TEST_SECRETS.standard_webhooks.verifying] },
      ],
    });
    const first = await post(
      "std",
      await signed("standard_webhooks", { id: "msg_1", data: { a: 1 }, clock }),
    );
    const second = await post(
      "std",
      await signed("standard_webhooks", { id: "msg_1", data: { a: 2 }, clock }),
    );
    expect(outbox.stored).toHaveLength(1);
    expect(second).toMatchObject({
      status: 200,
      headers: {
        "webhook-delivery": "abort-message",
        "posthorn-verdict": "conflict",
        "posthorn-event": headersOf(first)["posthorn-event"],
      },
    });
    await ingest.stop();
    expect(registry.rejected).toMatchObject([{ source: "std", code: "conflict" }]);
  });

  it("tells the sender of a bad signature nothing, and people everything but credentials", async () => {
    const { post, registry, ingest, clock, counted } = await bench({ inputs: [STRIPE] });
    const request = await signed("stripe", { secrets: "whsec_another_secret_altogether", clock });
    const reply = await post("stripe", {
      ...request,
      // As Node hands it in.
      body: Buffer.from(request.body),
      headers: {
        ...request.headers,
        authorization: "Bearer canary",
        "x-gitlab-token": "canary",
        cookie: "canary",
      },
    });
    expect(reply).toEqual({ status: 401 });
    await ingest.stop();
    const [rejected] = registry.rejected;
    expect(rejected).toMatchObject({
      code: "signature_mismatch",
      method: "POST",
      bodyBytes: request.body.length,
    });
    expect(rejected?.body).toEqual(request.body.slice(0, 64));
    expect(rejected?.body.buffer.byteLength).toBe(64);
    expect(rejected?.headers["stripe-signature"]).toBe(request.headers["stripe-signature"]);
    expect(JSON.stringify(rejected)).not.toContain("canary");
    expect(counted).toEqual(["stripe rejected"]);
  });

  it("explains a rejected request where it can", async () => {
    const { post, registry, ingest, clock } = await bench({ inputs: [STRIPE] });
    const request = await signed("stripe", { clock });
    await post("stripe", { ...request, body: new Uint8Array([...request.body, 10]) });
    await ingest.stop();
    expect(registry.rejected[0]?.diagnosis).toEqual([
      "A line break was added to the end of the body. Hand in the exact bytes, read before any parser.",
    ]);
  });

  it("is never told that an event is safe while the store does not take it", async () => {
    const { post, outbox, clock, counted, logged } = await bench({ inputs: [STRIPE] });
    outbox.down = new Error("the disk is full");
    const request = await signed("stripe", { clock });
    const reply = await post("stripe", request);
    expect(reply).toEqual({
      status: 503,
      headers: { "retry-after": "5", "posthorn-verdict": "unavailable" },
    });
    await post("stripe", request);
    expect(counted).toEqual(["stripe failed", "stripe failed"]);
    expect(logged).toHaveLength(1);
    outbox.down = undefined;
    expect(await post("stripe", request)).toMatchObject({ status: 200 });
  });

  it("answers handshakes, and stores nothing of them", async () => {
    const { post, outbox, clock } = await bench({
      inputs: [
        { name: "slack", scheme: "slack", secrets: [TEST_SECRETS.slack.verifying] },
        { name: "zoom", scheme: "zoom", secrets: [TEST_SECRETS.zoom.verifying] },
      ],
    });
    const slack = JSON.stringify({ type: "url_verification", challenge: "abc" });
    expect(await post("slack", await signed("slack", { body: slack, clock }))).toMatchObject({
      status: 200,
      body: "abc",
    });
    const zoom = JSON.stringify({ event: "endpoint.url_validation", payload: { plainToken: "abc" } });
    const answer = await post("zoom", await signed("zoom", { body: zoom, clock }));
    expect(JSON.parse(answer.body ?? "")).toEqual({
      plainToken: "abc",
      encryptedToken: createHmac("sha256", TEST_SECRETS.zoom.verifying).update("abc").digest("hex"),
    });
    expect(outbox.stored).toHaveLength(0);
  });

  it("stores all events of a request in one commit, and answers by the worst of them", async () => {
    const { post, outbox, clock } = await bench({
      inputs: [
        {
          name: "crm",
          scheme: "hubspot",
          secrets: [TEST_SECRETS.hubspot.verifying],
          options: { publicUrl: "https://example.com" },
        },
      ],
    });
    outbox.held = [];
    const events = [{ type: "contact.creation" }, { type: "contact.deletion" }, { type: "deal.creation" }];
    const first = post("crm", await signed("hubspot", { events, clock }));
    await Promise.resolve();
    expect(outbox.held).toHaveLength(3);
    for (const commit of outbox.held) commit();
    expect(await first).toMatchObject({ status: 200, headers: { "posthorn-verdict": "stored" } });
    expect(outbox.stored.map(({ event }) => event.type)).toEqual([
      "contact.creation",
      "contact.deletion",
      "deal.creation",
    ]);
    expect(
      outbox.stored.map(
        ({ event }) => (JSON.parse(Buffer.from(event.body).toString()) as object).constructor,
      ),
    ).toEqual([Object, Object, Object]);
    outbox.held = undefined;
    const empty = await post("crm", await signed("hubspot", { body: "[]", clock }));
    expect(empty).toEqual({ status: 200, headers: { "posthorn-verdict": "skipped" } });
  });

  it("lets a request be tried again of which a part was stored", async () => {
    const { post, outbox, clock } = await bench({
      inputs: [{ name: "mail", scheme: "sendgrid", secrets: [TEST_SECRETS.sendgrid.verifying] }],
    });
    const request = await signed("sendgrid", { events: [{}, {}], clock });
    outbox.held = [];
    const first = post("mail", request);
    await Promise.resolve();
    outbox.held[0]?.();
    await Promise.resolve();
    await Promise.resolve();
    outbox.down = new Error("gone");
    outbox.held[1]?.();
    expect(await first).toMatchObject({ status: 503 });
    [outbox.held, outbox.down] = [undefined, undefined];
    expect(await post("mail", request)).toMatchObject({ status: 200 });
    expect(outbox.stored).toHaveLength(2);
  });

  it("takes unsigned events of a source that was made for them, by content or by the id that it names", async () => {
    const { post, outbox } = await bench({
      inputs: [
        { name: "open", scheme: "none", allowUnverified: true },
        {
          name: "named",
          scheme: "none",
          allowUnverified: true,
          options: { id: { json: "/id" }, type: { header: "x-type" } },
        },
      ],
    });
    expect(await post("open", unsigned("a"))).toMatchObject({
      status: 200,
      headers: { "posthorn-verdict": "stored" },
    });
    expect(await post("open", unsigned("a"))).toMatchObject({ headers: { "posthorn-verdict": "duplicate" } });
    expect(await post("open", unsigned("b"))).toMatchObject({ headers: { "posthorn-verdict": "stored" } });
    await post("named", unsigned('{"id":"1","n":1}', { "x-type": "made" }));
    expect(await post("named", unsigned('{"id":"1","n":2}'))).toMatchObject({
      headers: { "posthorn-verdict": "conflict" },
    });
    expect(await post("named", unsigned("{}", { "x-type": "x".repeat(9000) }))).toEqual({ status: 400 });
    expect(outbox.stored.map(({ event }) => [event.type, event.contentType])).toEqual([
      ["unknown", "application/octet-stream"],
      ["unknown", "application/octet-stream"],
      ["made", "application/octet-stream"],
    ]);
  });

  it("gives events their key and the headers that the rules choose", async () => {
    const { post, outbox, clock } = await bench({
      inputs: [
        { ...STRIPE, key: { json: "/data/object/customer" }, forwardHeaders: ["x-*"], tenant: "acme" },
      ],
    });
    const request = await signed("stripe", {
      data: { customer: "cus_7" },
      headers: { "x-shard": "3" },
      clock,
    });
    await post("stripe", request);
    expect(outbox.stored[0]?.event).toMatchObject({
      key: "cus_7",
      tenant: "acme",
      headers: { "x-shard": "3" },
    });
  });

  it("says when the canonical form that was asked for could not be had", async () => {
    const dedup = { by: "content", content: "json" } as const;
    const { post } = await bench({
      inputs: [{ name: "open", scheme: "none", allowUnverified: true, dedup }],
    });
    expect(Object.keys(headersOf(await post("open", unsigned('{"a":1,"b":2}'))))).toEqual([
      "posthorn-verdict",
      "posthorn-event",
    ]);
    expect(headersOf(await post("open", unsigned('{ "b": 2, "a": 1 }')))["posthorn-verdict"]).toBe(
      "duplicate",
    );
    expect(headersOf(await post("open", unsigned("plain text")))).toMatchObject({
      "posthorn-verdict": "stored",
      "posthorn-content": "raw",
    });
  });

  it("does not wait for a body of too many events", async () => {
    const { post, outbox, registry, ingest, clock } = await bench({
      inputs: [{ name: "mail", scheme: "sendgrid", secrets: [TEST_SECRETS.sendgrid.verifying] }],
    });
    const body = `[${Array.from({ length: 10_001 }, () => "{}").join(",")}]`;
    expect(await post("mail", await signed("sendgrid", { body, clock }))).toEqual({ status: 413 });
    expect(outbox.stored).toHaveLength(0);
    await ingest.stop();
    expect(registry.rejected).toMatchObject([{ code: "events_too_many" }]);
  });

  it("refuses more when too much is under way, and takes it again afterwards", async () => {
    const { post, outbox } = await bench({
      inputs: [{ name: "open", scheme: "none", allowUnverified: true }],
    });
    outbox.held = [];
    const megabyte = new Uint8Array(1024 * 1024);
    const request = (n: number): ReceivedRequest => ({
      headers: { n: String(n) },
      body: megabyte,
      method: "POST",
      url: "/",
    });
    const waiting = Array.from({ length: 128 }, (_, n) => post("open", request(n)));
    expect(await post("open", request(0))).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
    for (const commit of outbox.held) commit();
    outbox.held = undefined;
    await Promise.all(waiting);
    expect(await post("open", request(0))).toMatchObject({ status: 200 });
  });
});

describe("a flood of bad requests", () => {
  it("is counted; a part of it is kept, and the rest is not even explained", async () => {
    const made = await bench({ inputs: [STRIPE, { ...STRIPE, name: "other" }] });
    const request = await signed("stripe", { secrets: "whsec_another_secret_altogether", clock: made.clock });
    for (let n = 0; n < 1000; n++) await made.post("stripe", request);
    await made.post("other", request);
    await made.ingest.stop();
    expect(made.registry.rejected.filter(({ source }) => source === "stripe")).toHaveLength(50);
    expect(made.registry.rejected.filter(({ source }) => source === "other")).toHaveLength(1);
    expect(made.dropped).toBe(950);
    expect(made.counted).toHaveLength(1001);
  });

  it("for sources that do not exist asks the database a few times a second at most", async () => {
    const { post, registry, clock } = await bench();
    const before = registry.looks;
    const request: ReceivedRequest = { headers: {}, body: new Uint8Array(), method: "POST", url: "/" };
    for (let n = 0; n < 100; n++) expect(await post(`none-${n}`, request)).toEqual({ status: 401 });
    expect(registry.looks - before).toBe(0);
    await clock.advance(250);
    for (let n = 0; n < 100; n++) await post(`none-${n}`, request);
    expect(registry.looks - before).toBe(1);
  });
});

describe("sources", () => {
  const request = { headers: {}, body: new Uint8Array(), method: "POST", url: "/" };

  it("that were made or changed on this node count at once", async () => {
    const { post, add, clock, registry } = await bench();
    add(STRIPE);
    const event = await signed("stripe", { clock });
    expect(await post("stripe", event)).toMatchObject({ status: 200 });
    registry.sources.set("stripe", {
      ...checkSource({ ...STRIPE, secrets: ["whsec_new_secret_of_many_bytes"] }, clock),
      version: 2,
    });
    registry.version++;
    for (const listener of registry.listeners) listener();
    expect(await post("stripe", event)).toEqual({ status: 401 });
    registry.sources.delete("stripe");
    registry.version++;
    for (const listener of registry.listeners) listener();
    expect(await post("stripe", event)).toEqual({ status: 401 });
  });

  it("whose secret was taken back on this node let nobody in while they are read again", async () => {
    const { post, clock, registry } = await bench({ inputs: [STRIPE] });
    const event = await signed("stripe", { clock });
    registry.sources.set("stripe", {
      ...checkSource({ ...STRIPE, secrets: ["whsec_new_secret_of_many_bytes"] }, clock),
      version: 2,
    });
    registry.version++;
    for (const listener of registry.listeners) listener();
    const replies = await Promise.all(Array.from({ length: 20 }, () => post("stripe", event)));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([401]));
  });

  it("take bodies as large as their provider sends, and never less than the setting", async () => {
    const { ingest, add } = await bench({ inputs: [STRIPE, GITHUB] });
    expect(["stripe", "github", "none"].map((name) => ingest.bodyLimit(name) / 1_048_576)).toEqual([
      1, 25, 1,
    ]);
    add({ name: "open", scheme: "none", allowUnverified: true });
    // While the change is being read, a delivery of 25 MiB must not be refused: GitHub sends it once.
    expect(ingest.bodyLimit("github") / 1_048_576).toBe(25);
  });

  it("that do not exist are answered as a missing and a wrong signature are, without a body", async () => {
    const { post, clock } = await bench({ inputs: [STRIPE] });
    const event = await signed("stripe", { clock });
    const wrong = { ...event, body: new TextEncoder().encode("{}") };
    const replies = [await post("none", event), await post("stripe", request), await post("stripe", wrong)];
    expect(replies).toEqual([{ status: 401 }, { status: 401 }, { status: 401 }]);
  });

  it("that were made on another node are found when they are called, and changes within a second", async () => {
    const { post, add, clock, ingest, registry } = await bench();
    await ingest.start();
    await clock.advance(300);
    add({ name: "open", scheme: "none", allowUnverified: true }, true);
    expect(await post("open", request)).toMatchObject({ status: 200 });
    registry.sources.delete("open");
    registry.version++;
    await clock.advance(1000);
    expect(await post("open", request)).toEqual({ status: 401 });
    await ingest.stop();
  });

  it("that are not known while the database is away are not said to be gone", async () => {
    const { post, registry, clock, ingest } = await bench({ inputs: [STRIPE] });
    registry.down = new Error("gone");
    await clock.advance(1000);
    expect(await post("other", request)).toMatchObject({ status: 503 });
    expect(await post("stripe", await signed("stripe", { clock }))).toMatchObject({ status: 200 });
    const refusal = { status: 413, code: "body_too_large", message: "too large", diagnosis: [] };
    expect(await ingest.refuse("other", request, refusal)).toMatchObject({ status: 503 });
    expect(await ingest.refuse("stripe", request, refusal)).toEqual({ status: 413 });
  });

  it("whose secrets cannot be opened are answered with 503, and stop no other", async () => {
    const { post, registry, clock, ingest, logged } = await bench({
      inputs: [STRIPE, { name: "open", scheme: "none", allowUnverified: true }],
    });
    registry.sources.set("stripe", {
      ...checkSource(STRIPE, clock),
      secrets: [],
      unopened: "another key",
      version: 2,
    });
    registry.version++;
    await ingest.refresh();
    expect(await post("stripe", await signed("stripe", { clock }))).toMatchObject({ status: 503 });
    expect(await post("open", request)).toMatchObject({ status: 200 });
    expect(logged.filter((text) => text !== "stored")).toHaveLength(1);
  });

  it("are all there, however many", async () => {
    const { post, registry, add } = await bench();
    for (let n = 0; n < 1001; n++) add({ name: `open-${n}`, scheme: "none", allowUnverified: true }, true);
    registry.version++;
    for (const listener of registry.listeners) listener();
    expect(await post("open-1000", request)).toMatchObject({ status: 200 });
  });
});

it("names whose window has passed are forgotten from time to time", async () => {
  const { ingest, outbox, clock } = await bench();
  await ingest.start();
  await clock.advance(121_000);
  expect(outbox.forgets).toBe(3);
  await ingest.stop();
});

it("a request that could not be read is kept, where its source is one", async () => {
  const { ingest, registry } = await bench({ inputs: [STRIPE] });
  const refusal = {
    status: 413,
    code: "body_too_large",
    message: "too large",
    diagnosis: [],
    bodyBytes: 2_000_000,
  };
  const request = { headers: {}, body: new Uint8Array(), method: "POST", url: "/in/stripe" };
  expect(await ingest.refuse("stripe", request, refusal)).toEqual({ status: 413 });
  expect(await ingest.refuse("other", request, refusal)).toEqual({ status: 413 });
  await ingest.stop();
  expect(registry.rejected).toMatchObject([{ code: "body_too_large", bodyBytes: 2_000_000 }]);
});
