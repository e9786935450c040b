import { diagnose, verify } from "posthorn";
import { httpSignature, stripe } from "posthorn/providers";
import { createFakeClock, TEST_SECRETS } from "posthorn/testing";
import { describe, expect, it } from "vitest";
import { fakeClient, problem } from "../../../../test/cli/fake-client.js";
import { runCommand } from "../../../../test/cli/run-command.js";
import { NOW_MS, SOURCE } from "../../../../test/cli/samples.js";

interface Sent {
  readonly url: string;
  readonly init: RequestInit;
}

function ingest(answer: (sent: Sent, before: number) => Response): {
  sent: Sent[];
  context: { fetch: (url: string, init: RequestInit) => Promise<Response> };
} {
  const sent: Sent[] = [];
  const fetch = (url: string, init: RequestInit): Promise<Response> => {
    const before = sent.push({ url, init }) - 1;
    return Promise.resolve(answer({ url, init }, before));
  };
  return { sent, context: { fetch } };
}

function stored(verdict = "stored"): Response {
  return new Response(null, {
    status: 200,
    headers: { "posthorn-verdict": verdict, "posthorn-event": "evt_9" },
  });
}

describe("trigger", () => {
  it("sends what the provider's own verifier believes", async () => {
    const { sent, context } = ingest(() => stored());
    const { code, out, err } = await runCommand(
      ["trigger", "stripe", "invoice.paid", "--id", "evt_1", "--data", '{"id":"in_7"}'],
      { context },
    );
    expect({ code, out }).toEqual({ code: 0, out: "200 stored evt_9\n" });
    expect(err).toContain("posthorn events show evt_9");
    const [{ url, init } = { url: "", init: {} }] = sent;
    expect(url).toBe("http://127.0.0.1:8710/in/stripe");
    const verifier = stripe({
      secrets: TEST_SECRETS.stripe.verifying,
      clock: createFakeClock({ at: NOW_MS }),
      diagnose,
    });
    const body = init.body as Uint8Array;
    await verify(verifier, { headers: init.headers as Record<string, string>, body });
    expect(JSON.parse(Buffer.from(body).toString())).toMatchObject({ id: "evt_1", type: "invoice.paid" });
  });

  it("--repeat sends the same at once, and counts verdicts", async () => {
    const { sent, context } = ingest((_, before) => stored(before === 0 ? "stored" : "duplicate"));
    const { out } = await runCommand(["trigger", "stripe", "--repeat", "5"], { context });
    const bodies = sent.map(({ init }) => Buffer.from(init.body as Uint8Array).toString());
    expect(bodies).toEqual(Array.from({ length: 5 }, () => bodies[0]));
    expect(out).toBe("1 request: 200 stored evt_9\n4 requests: 200 duplicate evt_9\n");
  });

  it("to a source that is not there has the line that makes it", async () => {
    const client = fakeClient({
      "sources.get": () => {
        throw problem(404, "source_unknown", "There is no source.");
      },
    });
    expect(await runCommand(["trigger", "github", "push", "--source", "code"], { client })).toMatchObject({
      code: 1,
      err: expect.stringContaining("posthorn source add code --scheme github --test-secret") as string,
    });
  });

  it("that is not believed says why that may be", async () => {
    const { context } = ingest(() => new Response(null, { status: 401 }));
    const test = await runCommand(["trigger", "stripe"], { context });
    expect(test).toMatchObject({ code: 1, err: expect.stringContaining("public test secret") as string });
    const own = await runCommand(["trigger", "stripe", "--secret", "whsec_mine"], { context });
    expect(own.err).toContain("posthorn rejected list --source stripe");
    expect(own.out + own.err).not.toContain("whsec_mine");
  });

  it("signs the URL that the source knows", async () => {
    const { sent, context } = ingest(() => stored());
    const client = fakeClient({
      "sources.get": () => ({ ...SOURCE, options: { publicUrl: "https://hooks.example.com" } }),
    });
    await runCommand(["trigger", "square", "--source", "pay"], { context, client });
    expect(sent[0]?.url).toBe("http://127.0.0.1:8710/in/pay");
  });

  it("signs the source's whole address, where the server knows it and the source says no other", async () => {
    const { sent, context } = ingest(() => stored());
    const url = "https://hooks.example.com/in/kms";
    const client = fakeClient({ "sources.get": () => ({ ...SOURCE, options: {}, url }) });
    await runCommand(["trigger", "http_signature", "--source", "kms"], { context, client });
    const [{ url: sentTo, init } = { url: "", init: {} }] = sent;
    expect(sentTo).toBe("http://127.0.0.1:8710/in/kms");
    const verifier = httpSignature({
      secrets: TEST_SECRETS.http_signature.verifying,
      publicUrl: url,
      clock: createFakeClock({ at: NOW_MS }),
    });
    const { headers, body } = init as { headers: Record<string, string>; body: Uint8Array };
    expect((await verify(verifier, { headers, body, method: "POST", url: "/in/kms" })).keyIndex).toBe(0);
  });

  it("--print sends nothing and needs no server", async () => {
    const { code, out, client } = await runCommand(["trigger", "github", "push", "--print"], {
      context: { environment: {} },
    });
    expect(code).toBe(0);
    expect(client.calls).toEqual([]);
    expect(out).toMatch(/^curl -sS -i /);
    expect(out).toContain("'http://127.0.0.1:8710/in/github'");
  });

  it("to a server that is away says its address, and ends with 3", async () => {
    const cause = Object.assign(new Error("x"), { code: "ECONNREFUSED" });
    const fetch = (): Promise<Response> => Promise.reject(new TypeError("fetch failed", { cause }));
    expect(await runCommand(["trigger", "stripe"], { context: { fetch } })).toMatchObject({
      code: 3,
      err: expect.stringMatching(
        /127\.0\.0\.1:8710 could not be reached \(ECONNREFUSED\)[^]*posthorn serve/,
      ) as string,
    });
  });

  it("of a provider that is none has the nearest", async () => {
    expect(await runCommand(["trigger", "shopfy"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("shopify") as string,
    });
  });
});
