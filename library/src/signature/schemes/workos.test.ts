import { createHmac } from "node:crypto";
import { expect, it } from "vitest";
import { utf8 } from "../../bytes.js";
import { systemClock } from "../../clock.js";
import type { Event } from "../../event.js";
import { readEvents } from "../read-events.js";
import { verifySync } from "../verify.js";
import { workos } from "./workos.js";

const SECRET = "workos-signing-secret-0123456789";
const NOW_MS = 1_700_000_000_272;
const verifier = workos({ secrets: SECRET, clock: { ...systemClock, now: () => NOW_MS } });

function receive(body: string): readonly Event[] {
  const signature = createHmac("sha256", SECRET).update(`${NOW_MS}.${body}`).digest("hex");
  const headers = { "workos-signature": `t=${NOW_MS}, v1=${signature}` };
  return readEvents(verifySync(verifier, { headers, body: utf8(body) }));
}

it.each(["", "{", "[]", '{"id":7,"event":[],"created_at":1}', '{"created_at":"soon"}'])(
  "an event has neither id nor type nor time when the body is %j",
  (body) => {
    expect(receive(body)).toMatchObject([{ id: undefined, type: "unknown", time: undefined }]);
  },
);
