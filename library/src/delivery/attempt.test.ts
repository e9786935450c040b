import { describe, expect, it } from "vitest";
import { utf8 } from "../bytes.js";
import { createSigner } from "../signature/sign.js";
import { requestHeaders, shownHeaders } from "./attempt.js";

const signer = createSigner({ secrets: ["whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"] });

function headersOf(headers: Readonly<Record<string, string>> | undefined) {
  const time = new Date(Date.UTC(2030, 0, 1));
  const known = { id: "evt_1", tenant: "default", source: "app", type: "t", contentType: "text/plain" };
  const event = { ...known, body: utf8("{}"), time, headers };
  const delivery = { sequence: 1n, round: 1, event, expiresInMs: undefined };
  return requestHeaders(signer, { claim: { lane: undefined }, delivery, after: undefined, number: 1 }, time);
}

describe("the headers of an attempt", () => {
  it("are the event's own beside those that sign it", () => {
    expect(headersOf({ "x-shop": "eu" })).toEqual({ ...headersOf(undefined), "x-shop": "eu" });
  });

  it("are signed by nobody else, whatever the event brings along", () => {
    const foreign = {
      "webhook-signature": "v1,forged",
      "Webhook-Id": "evt_2",
      "svix-signature": "v1,forged",
      "Posthorn-Seq": "9",
      "Content-Type": "text/html",
      HOST: "internal",
      "x-a": "b\r\nwebhook-id: evt_2",
    };
    expect(headersOf(foreign)).toEqual(headersOf(undefined));
  });
});

it("headers are shown without what could be used again: nothing of secrets, the beginning of signatures", () => {
  const shown = shownHeaders({
    "webhook-id": "evt_1",
    "webhook-signature": "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4= v1,abcdefghijklmnop",
    "posthorn-signature": "v1,K5oZfzN95Z9UVu1Esf",
    Authorization: "Bearer hunter2",
    "x-api-key": "hunter2",
    cookie: "session=hunter2",
  });
  expect(shown["webhook-id"]).toBe("evt_1");
  expect(shown["webhook-signature"]).toBe("v1,K5oZfzN95… v1,abcdefghi…");
  expect(JSON.stringify(shown)).not.toMatch(/hunter2|UVu1Esf/);
  expect(Object.keys(shown)).toHaveLength(6);
});
