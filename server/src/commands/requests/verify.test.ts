import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROVIDER_SCHEMES } from "posthorn/providers";
import { TEST_SECRETS, TEST_WEBHOOK_ID } from "posthorn/testing";
import { afterAll, describe, expect, it } from "vitest";
import { runCommand } from "../../../../test/cli/run-command.js";

const directory = mkdtempSync(join(tmpdir(), "posthorn-verify-"));
afterAll(() => rmSync(directory, { recursive: true }));

function file(name: string, content: string | Uint8Array): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

async function signedText(...args: readonly string[]): Promise<Uint8Array> {
  const { code, terminal, err } = await runCommand(["sign", ...args]);
  expect({ code, err: err.replace(/^Warning: .*\n/, "") }).toEqual({ code: 0, err: "" });
  return terminal.outBytes();
}

/** What some schemes need besides. */
const OPTIONS: Readonly<Record<string, readonly string[]>> = {
  paypal: ["--option", `webhookId=${TEST_WEBHOOK_ID}`],
  http_signature: ["--request-url", "https://example.com/webhooks/http_signature"],
};

describe("what `sign` prints, `verify` believes", () => {
  it.each(PROVIDER_SCHEMES.map(({ name }) => name))("by %s", async (name) => {
    const input = await signedText("--scheme", name);
    const { verifying } = TEST_SECRETS[name as keyof typeof TEST_SECRETS];
    const option = OPTIONS[name] ?? [];
    const args = ["verify", "--scheme", name, "--secret-file", file(`${name}.secret`, verifying), ...option];
    const { code, out, err } = await runCommand(args, { input });
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain("The signature holds.");
    expect(out + err).not.toContain(verifying);
  });

  it("of a shared key only where it is said under which URL the receiver is called", async () => {
    const input = await signedText("--scheme", "http_signature");
    const secret = file("shared.secret", TEST_SECRETS.http_signature.verifying);
    const args = ["verify", "--scheme", "http_signature", "--secret-file", secret];
    const { code, err } = await runCommand(args, { input });
    expect([code === 0, err]).toEqual([false, expect.stringContaining("publicUrl")]);
    const elsewhere = [...args, "--request-url", "https://other.example/webhooks/http_signature"];
    expect((await runCommand(elsewhere, { input })).code).toBe(1);
  });

  it("from a file, and as JSON", async () => {
    const path = file(
      "request.http",
      await signedText("--scheme", "stripe", "--type", "invoice.paid", "--id", "evt_1"),
    );
    const { out } = await runCommand(["verify", path, "--scheme", "stripe", "--json"], {
      context: { environment: { POSTHORN_SECRET: TEST_SECRETS.stripe.verifying } },
    });
    expect(JSON.parse(out)).toMatchObject({
      verified: true,
      scheme: "stripe",
      events: [{ id: "evt_1", type: "invoice.paid" }],
    });
  });
});

describe("a request that is refused", () => {
  const secret = ["--scheme", "stripe", "--secret", TEST_SECRETS.stripe.verifying];

  it("ends with 1 and the diagnosis, and never shows the secret", async () => {
    const text = Buffer.from(await signedText("--scheme", "stripe")).toString("latin1");
    const at = text.indexOf("\r\n\r\n") + 4;
    const body = JSON.stringify(JSON.parse(text.slice(at)), null, 2);
    const input = text.slice(0, at).replace(/content-length: \d+\r\n/, "") + body;
    const { code, out, err } = await runCommand(["verify", ...secret], { input });
    expect(code).toBe(1);
    expect(out).toContain("does not hold");
    expect(out).toMatch(/→ .*parsed and written again/);
    expect(err).toBe("");
    expect(out).not.toContain(TEST_SECRETS.stripe.verifying);
  });

  it("because it is old is believed as at its time", async () => {
    const input = await signedText("--scheme", "stripe");
    const later = ["--at", "2027-02-28T00:00:00Z"];
    const old = await runCommand(["verify", ...secret, ...later, "--json"], { input });
    expect(old.code).toBe(1);
    expect(JSON.parse(old.out)).toMatchObject({ verified: false, code: "timestamp_out_of_range" });
    const then = await runCommand(["verify", ...secret, "--at", "2027-01-31T12:01:00Z"], { input });
    expect(then.code).toBe(0);
  });

  it("of another provider is told which", async () => {
    const input = await signedText("--scheme", "github");
    const { out } = await runCommand(["verify", ...secret], { input });
    expect(out).toContain("github()");
  });

  it("with hostile headers shows escapes", async () => {
    const input = "POST / HTTP/1.1\nstripe-signature: \u001b[2J\n\n{}";
    const { code, out } = await runCommand(["verify", ...secret], { input });
    expect(code).toBe(1);
    expect(out).not.toContain("\u001b");
  });
});

describe("a wrong use", () => {
  it.each([
    ["no secret", []],
    ["no such scheme", ["--scheme", "strip", "--secret", "x"]],
    [
      "a header without a body",
      ["--header", "a: b", "--secret", "whsec_cG9zdGhvcm4gcHVibGljIHRlc3QgZml4dHVyZQ=="],
    ],
  ])("with %s is refused", async (_, args) => {
    const { code, err } = await runCommand(["verify", ...args]);
    expect(code).toBe(2);
    expect(err).toMatch(/^Error: /);
  });

  it("of sign with a provider that is none has the nearest one", async () => {
    expect(await runCommand(["sign", "--scheme", "strpe"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("Did you mean stripe?") as string,
    });
  });
});

it("headers and body may be given apart", async () => {
  const { out } = await runCommand(["sign", "--scheme", "github", "--json"]);
  const { headers, body } = JSON.parse(out) as { headers: Record<string, string>; body: string };
  const given = Object.entries(headers).flatMap(([name, value]) => ["--header", `${name}: ${value}`]);
  const { code } = await runCommand([
    "verify",
    ...given,
    "--body-file",
    file("body.json", Buffer.from(body, "base64")),
    "--scheme",
    "github",
    "--secret",
    TEST_SECRETS.github.verifying,
  ]);
  expect(code).toBe(0);
});

it("a new secret is one that signs", async () => {
  const { out } = await runCommand(["sign", "--new-secret"]);
  const secret = out.trim();
  const input = await signedText("--secret", secret, "--data", '{"a":1}');
  expect(await runCommand(["verify", "--secret", secret], { input })).toMatchObject({ code: 0 });
});
