import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { utf8 } from "../../bytes.js";
import { systemClock } from "../../clock.js";
import type { Event } from "../../event.js";
import { readEvents } from "../read-events.js";
import { verifySync } from "../verify.js";
import { hubspot } from "./hubspot.js";

const SECRET = "yyyyyyyy-yyyy-yyyy-yyyy-yyyyyyyyyyyy";
const NOW_S = 1_700_000_000;
const URL_TEXT = "https://example.com/hubspot";
const verifier = hubspot({
  secrets: SECRET,
  publicUrl: URL_TEXT,
  clock: { ...systemClock, now: () => NOW_S * 1000 },
});

/** Receives a request of which the framework tells neither method nor URL. */
function receive(body: string): readonly Event[] {
  const timestamp = `${NOW_S}000`;
  const signature = createHmac("sha256", SECRET)
    .update(`POST${URL_TEXT}${body}${timestamp}`)
    .digest("base64");
  const headers = { "x-hubspot-request-timestamp": timestamp, "x-hubspot-signature-v3": signature };
  return readEvents(verifySync(verifier, { headers, body: utf8(body) }));
}

const one = { portalId: 1, subscriptionId: 2, eventId: 3, objectId: 4, occurredAt: 5, attemptNumber: 0 };

function idOf(event: object): string | undefined {
  return receive(JSON.stringify([event]))[0]?.id;
}

it("without a method POST counts, and a whole public URL needs no request's", () => {
  expect(receive("[]")).toEqual([]);
});

it("each event's body is its own slice of the very bytes", () => {
  const [first, second] = receive('[ {"eventId":1, "a":"}],"} ,\n{"eventId":2}\t]');
  expect(new TextDecoder().decode(first?.body)).toBe('{"eventId":1, "a":"}],"}');
  expect(new TextDecoder().decode(second?.body)).toBe('{"eventId":2}');
});

describe("the id of an event", () => {
  it("stays when the event is sent again", () => {
    expect(idOf({ ...one, attemptNumber: 7 })).toBe(idOf(one));
  });

  it.each([
    ["portalId", "12:2:3:4:::5"],
    ["subscriptionId", "1:12:3:4:::5"],
    ["eventId", "1:2:12:4:::5"],
    ["objectId", "1:2:3:12:::5"],
    ["fromObjectId", "1:2:3:4:12::5"],
    ["toObjectId", "1:2:3:4::12:5"],
    ["occurredAt", "1:2:3:4:::12"],
  ])("differs when only %s differs", (name, id) => {
    expect([idOf(one), idOf({ ...one, [name]: 12 })]).toEqual(["1:2:3:4:::5", id]);
  });

  it("differs between two properties that changed at once", () => {
    expect([idOf({ ...one, propertyName: "email" }), idOf({ ...one, propertyName: "a:b" })]).toEqual([
      "1:2:3:4:::5:email",
      "1:2:3:4:::5:a:b",
    ]);
    for (const propertyName of ["", null, 7]) expect(idOf({ ...one, propertyName })).toBe("1:2:3:4:::5");
  });

  it("keeps numbers apart that would be the same text side by side", () => {
    const near = [idOf({ ...one, subscriptionId: 1, eventId: 23 }), idOf({ ...one, subscriptionId: 12 })];
    expect(near).toEqual(["1:1:23:4:::5", "1:12:3:4:::5"]);
  });

  it("is none where the event has none", () => {
    expect(idOf({ portalId: 1, subscriptionId: 2 })).toBeUndefined();
  });
});

it.each(["", "{", "7", '"x"', '{"subscriptionType":7,"occurredAt":"x"}'])(
  "a body of %j is one event that has neither id nor type nor time",
  (body) => {
    expect(receive(body)).toMatchObject([{ id: undefined, type: "unknown", time: undefined }]);
  },
);
