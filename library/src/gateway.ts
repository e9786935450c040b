/**
 * `posthorn/gateway`: what a server that receives for others is made of, in the same pieces that `createReceiver` uses.
 * For Posthorn's own server; between two versions it may change without notice.
 *
 * @module
 */
export { handlerId, inboxName, isHandlerId } from "./consumer-name.js";
export { contentRule, dedupFault } from "./dedup-rule.js";
export type { DedupFault } from "./dedup-rule.js";
export { isContentType, isHeaderName } from "./event-headers.js";
export { ExactJson } from "./exact-json.js";
export { hangUp } from "./frameworks/hang-up.js";
export { announcedBytes, readStream } from "./frameworks/node-body.js";
export type { BodyListener, StreamReading } from "./frameworks/node-body.js";
export { absoluteUrl } from "./frameworks/request-rules.js";
export { idAt, newId, timeOfId } from "./id.js";
export { nameOfId } from "./incoming-name.js";
export { keptHeaders } from "./inbox/arrival/kept-headers.js";
export { idName, namesOf } from "./inbox/arrival/names.js";
export type { NamingRule } from "./inbox/arrival/names.js";
export { orderingKey } from "./inbox/arrival/ordering-key.js";
export { isEncoded, refusalOf } from "./inbox/arrival/refusal.js";
export { defaultWindowS, windowFault } from "./inbox/source.js";
export { isWorse, replyTo, UNAVAILABLE } from "./inbox/verdict.js";
export { depthOf, elements, members } from "./json.js";
export type { JsonMember } from "./json.js";
export { parseJsonPointer } from "./json-pointer.js";
export { parseLaneId } from "./lanes/delivery-id.js";
export { ForwardedHeaders, forwardFault } from "./outbox/forwarded-headers.js";
export { parsePlace } from "./place.js";
export type { Place } from "./place.js";
export type { HeaderRecord } from "./signature/headers/headers.js";
export { signedUrl } from "./signature/signed-url.js";
export { nameFault, storableName, storableTime } from "./storable.js";
export { repeat } from "./work/repeat.js";
