import { describe, expect, it } from "vitest";
import type { Signal } from "../observer.js";
import { figma } from "../signature/schemes/figma.js";
import { stripe } from "../signature/schemes/stripe.js";
import { webflow } from "../signature/schemes/webflow.js";
import { createSource } from "./source.js";

const verifier = stripe({ secrets: "whsec_an_endpoint_secret_of_stripe" });

describe("a source", () => {
  it("remembers events for fourteen days unless told otherwise", () => {
    expect(createSource("stripe", verifier, undefined)).toMatchObject({
      windowS: 14 * 24 * 3600,
      tenant: "default",
      naming: { source: "stripe", by: "id", content: undefined, bodyVaries: true },
      stale: "reject_stale",
    });
  });

  it("remembers events for as long as their provider redelivers, where that is longer", () => {
    const patient = { ...verifier, scheme: { ...verifier.scheme, retryHorizonS: 30 * 24 * 3600 } };
    expect(createSource("patient", patient, undefined).windowS).toBe(30 * 24 * 3600);
  });

  it("remembers events without id and time for twice as long as their provider redelivers", () => {
    const recurring = webflow({ secrets: "a secret of some length" });
    expect(createSource("webflow", recurring, undefined).windowS).toBe(3600);
    expect(createSource("webflow", { verifier: recurring, windowS: 86_400 }, undefined).windowS).toBe(86_400);
  });

  it("knows its events again as their provider's scheme says, unless told otherwise", () => {
    const byPasscode = figma({ secrets: "a passcode of some length" });
    expect(createSource("figma", byPasscode, undefined).naming).toMatchObject({ by: "content" });
    expect(
      createSource("figma", { verifier: byPasscode, dedup: { by: "id" } }, undefined).naming,
    ).toMatchObject({
      by: "id",
    });
  });

  it("refuses a window that ends while the provider may still redeliver", () => {
    expect(() => createSource("stripe", { verifier, windowS: 3600 }, undefined)).toThrow(
      expect.objectContaining({
        code: "window_too_short",
        message:
          'windowS of "stripe" is 3600 s, but Stripe redelivers for up to 259200 s: an event would be forgotten and then ' +
          "taken for a new one. Set at least 259200.",
      }),
    );
  });

  it("may be kept for ever", () => {
    expect(createSource("stripe", { verifier, windowS: "forever" }, undefined).windowS).toBeUndefined();
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])("refuses a window of %s", (windowS) => {
    expect(() => createSource("stripe", { verifier, windowS }, undefined)).toThrow(
      expect.objectContaining({ code: "inbox_option_invalid" }),
    );
  });

  it.each(["", "a b", "../x", "x".repeat(65)])("refuses the name %j", (name) => {
    expect(() => createSource(name, verifier, undefined)).toThrow(
      expect.objectContaining({ code: "inbox_option_invalid" }),
    );
  });

  it("says at once when stale events of it cannot be told", () => {
    const signals: Signal[] = [];
    const identity = { id: "body `id`", type: "body `type`", time: undefined };
    const timeless = { ...verifier, scheme: { ...verifier.scheme, identity } };
    createSource("timeless", timeless, (signal) => signals.push(signal));
    expect(signals).toEqual([{ kind: "stale_untold", source: "timeless" }]);
  });
});
