import { readFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { utf8 } from "../../bytes.js";
import { systemClock } from "../../clock.js";
import { keySetFromCertificate } from "../keys/certificate.js";
import type { KeyHint, KeySet } from "../keys/key.js";
import type { SignedRequest } from "../scheme.js";
import { verify, verifySync } from "../verify.js";
import { PAYPAL, paypal } from "./paypal.js";
import type { PaypalOptions } from "./paypal.js";

interface PaypalCase {
  readonly verifier: { readonly options: { readonly webhookId: string; readonly certificate: string } };
  readonly now: number;
  readonly request: { readonly headers: Record<string, string>; readonly body: string };
}

const vectors = new URL("../../../../spec/vectors/signature/paypal.json", import.meta.url);
const [vector] = (JSON.parse(readFileSync(vectors, "utf8")) as { cases: [PaypalCase] }).cases;
const { webhookId, certificate } = vector.verifier.options;
const clock = { ...systemClock, now: () => vector.now * 1000 };
const request: SignedRequest = { headers: vector.request.headers, body: utf8(vector.request.body) };

describe("a certificate that a function brings", () => {
  const bring = vi.fn<(hint: KeyHint) => Promise<KeySet>>(({ name = "" }) =>
    Promise.resolve(keySetFromCertificate(certificate, name)),
  );
  const verifier = paypal({ webhookId, keys: bring, clock });

  it("is asked for by its address, which the verdict then names", async () => {
    const { key } = await verify(verifier, request);
    expect(key).toBe(vector.request.headers["paypal-cert-url"]);
    expect(bring).toHaveBeenCalledExactlyOnceWith({ name: key });
  });

  const PATH = "/v1/notifications/certs/CERT-360caa42-fca2a594-a5cafa77";

  it.each(["api.paypal.com", "api-m.paypal.com", "api.sandbox.paypal.com", "api-m.sandbox.paypal.com"])(
    "is asked for at %s",
    async (host) => {
      const headers = { ...vector.request.headers, "paypal-cert-url": `https://${host}${PATH}` };
      expect((await verify(verifier, { ...request, headers })).key).toBe(`https://${host}${PATH}`);
    },
  );

  it.each([
    ["a stranger's", `https://evil.example/.paypal.com${PATH}`],
    ["another host of PayPal's, which may redirect", `https://www.paypal.com${PATH}`],
    ["another path of the right host", "https://api.paypal.com/v1/oauth2/redirect"],
    ["a path that climbs out", "https://api.paypal.com/v1/notifications/certs/../../x"],
    ["a path with more behind it", `https://api.paypal.com${PATH}/x`],
  ])("is not asked for where the address is %s", async (_, url) => {
    bring.mockClear();
    const headers = { ...vector.request.headers, "paypal-cert-url": url };
    await expect(verify(verifier, { ...request, headers })).rejects.toMatchObject({
      code: "header_malformed",
      message:
        'The header "paypal-cert-url" cannot be right: it must be https://api.paypal.com/v1/notifications/certs/…, ' +
        "on the host api or api-m of paypal.com or sandbox.paypal.com.",
    });
    expect(bring).not.toHaveBeenCalled();
  });

  it("cannot be waited for by verifySync", () => {
    expect(() => verifySync(verifier, request)).toThrow(
      expect.objectContaining({ code: "keys_asynchronous" }),
    );
  });
});

it.each(["", "a|b", "WH 1", undefined, 7])("a webhook id of %j is refused at construction", (id) => {
  expect(() => paypal({ webhookId: id as string, certificate })).toThrow(
    expect.objectContaining({ code: "option_invalid" }),
  );
});

it.each([undefined, []])("%j for a certificate is refused at construction", (none) => {
  expect(() => paypal({ webhookId, certificate: none } as PaypalOptions)).toThrow(
    expect.objectContaining({ code: "secret_missing" }),
  );
});

it("a certificate that cannot be read is refused at construction, and named", () => {
  expect(() => paypal({ webhookId, certificate: [certificate, "no PEM"] })).toThrow(
    expect.objectContaining({
      code: "secret_malformed",
      message:
        'certificate 2 is not a certificate in PEM. Hand in the text from "-----BEGIN CERTIFICATE-----" to ' +
        '"-----END CERTIFICATE-----".',
    }),
  );
});

it("an ended certificate says so, with its dates, instead of calling the signature wrong", () => {
  const late = { ...systemClock, now: () => Date.parse("2026-01-01T00:00:00Z") };
  expect(() => verifySync(paypal({ webhookId, certificate, clock: late }), request)).toThrow(
    expect.objectContaining({
      code: "key_out_of_period",
      message:
        "No given key is valid now: certificate 1: from 2023-01-01T00:00:00.000Z until 2024-01-01T00:00:00.000Z.",
    }),
  );
});

it("the scheme by itself verifies nothing: without a webhook id nothing can be proved", () => {
  const verifier = { ...paypal({ webhookId, certificate, clock }), scheme: PAYPAL };
  expect(() => verifySync(verifier, request)).toThrow(expect.objectContaining({ code: "option_invalid" }));
});

it("does not claim that the body is covered: its checksum is, and a checksum can be met", () => {
  expect(PAYPAL.covers).toEqual({ body: false, url: false, time: true, id: false });
});

it("an event's fields are read only where they are texts", () => {
  const verified = verifySync(paypal({ webhookId, certificate, clock }), request);
  for (const body of ["", "[]", '{"id":7,"event_type":{},"create_time":1}', '{"create_time":"soon"}']) {
    expect(PAYPAL.identify?.({ ...verified, request: { ...request, body: utf8(body) } })).toEqual([
      { id: undefined, type: undefined, time: undefined },
    ]);
  }
});
