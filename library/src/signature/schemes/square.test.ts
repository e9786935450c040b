import { expect, it } from "vitest";
import { utf8 } from "../../bytes.js";
import type { Verified } from "../scheme.js";
import { paddle } from "./paddle.js";
import { square } from "./square.js";

// Their signatures are in the vectors; what is left is what they make of an odd body.
it.each([square({ secrets: "a signature key" }), paddle({ secrets: "pdl_ntfset_01" })])(
  "an odd body of $scheme.title yields an event without id, type and time",
  ({ scheme }) => {
    for (const body of [
      "",
      "[]",
      "{",
      '{"event_id":7,"type":[],"event_type":{},"created_at":1,"occurred_at":"?"}',
    ]) {
      const verified = { request: { headers: {}, body: utf8(body) } } as unknown as Verified;
      expect(scheme.identify?.(verified)).toEqual([{ id: undefined, type: undefined, time: undefined }]);
    }
  },
);
