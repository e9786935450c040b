import type { Problem } from "posthorn/client";
import { BIG } from "./text.js";
import type { FieldsOf } from "./text.js";

/** Of RFC 9457. */
export const PROBLEM: object = {
  $id: "Problem",
  type: "object",
  required: ["type", "title", "status", "detail", "code"],
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string", description: "What was found, and how to mend it." },
    code: { type: "string", description: "Lower snake case, for programs." },
    requestId: { type: "string", description: "What the server's log calls this request." },
    field: { type: "string", description: "Which part of the request is wrong." },
    ids: { type: "array", items: { type: "string" }, description: "Of the events that are in conflict." },
    head: { ...BIG, description: "The sequence that is at the head of the lane now." },
  } satisfies FieldsOf<Problem>,
};
