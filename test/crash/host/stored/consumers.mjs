// The consumers of a worker: one for each way in which stored events are handled.
import { setTimeout as sleep } from "node:timers/promises";
import { openOtherSide } from "./steps.mjs";
import { writerOf } from "./work.mjs";

/** @import { LongContext, ReceivedEvent } from "posthorn" */
/** @import { HostOptions } from "../work.mjs" */
/** @import { Stored } from "./work.mjs" */

/** @typedef {ReceivedEvent<Stored>} StoredEvent */
/** @typedef {{ tx?: unknown }} Context */

const SLOW_ONE_IN = 20;
const SLOW_MS = 20;
// Past a third of the lease, so that it is extended.
const SLOW_JOB_MS = 2500;
const SLOW_JOB_ONE_IN = 100;

// Whoever is killed must not use up what a handler that throws is allowed.
const retry = { firstMs: 20, factor: 1, maxAttempts: 60 };
const errors = [
  { when: { name: "Down" }, do: { pauseMs: 100 } },
  { when: { name: "Broken" }, do: { dead: true } },
];

/** @param {HostOptions} options */
export async function consumersOf(options) {
  const { failsOneIn = 50, slowJobEvery } = options;
  const write = writerOf(options);
  const otherSide = await openOtherSide(options);
  const fails = () => failureOf(failsOneIn);
  const isSlow = (/** @type {StoredEvent} */ { data }) =>
    slowJobEvery === undefined ? oneIn(SLOW_JOB_ONE_IN) : data.version % slowJobEvery === 0;

  /** @param {string} consumer @param {readonly StoredEvent[]} events @param {Context} context */
  const handle = async (consumer, events, { tx }) => {
    // Some are held for a while, so that kills meet them.
    if (oneIn(SLOW_ONE_IN)) await sleep(SLOW_MS);
    return write({ consumer, events, error: fails() }, tx);
  };
  /** @param {string} consumer */
  const one = (consumer) => (/** @type {StoredEvent} */ event, /** @type {Context} */ context) =>
    handle(consumer, [event], context);
  /** @param {StoredEvent} event @param {LongContext} context */
  const job = async (event, { once }) => {
    const effect = await once("charge", {
      check: (key) => otherSide.find(key),
      act: (key) => otherSide.act({ ...event.data, step: "charge", idem: key }),
    });
    // The steps are kept, and the event is not marked: most kills shall meet this.
    await sleep(isSlow(event) ? SLOW_JOB_MS : SLOW_MS);
    await once("mail", { act: (key) => otherSide.act({ ...event.data, step: "mail", idem: key }) });
    const end = { consumer: "jobs", events: [event], effect, error: fails() };
    return (/** @type {unknown} */ tx) => write(end, tx, { isInner: true });
  };
  const many = (/** @type {readonly StoredEvent[]} */ events, /** @type {Context} */ context) =>
    handle("many", events, context);
  const latest = {
    policy: "drop_stale",
    resource: (/** @type {StoredEvent} */ { data }) => data.key,
    version: (/** @type {StoredEvent} */ { data }) => BigInt(data.version),
  };
  return {
    single: { handlers: { "*": one("single") }, sources: ["shop"], retry, errors },
    many: { handlers: { "*": { by: "key", max: 20, batch: many } }, sources: ["shop"], retry, errors },
    held: { handlers: { "*": one("held") }, sources: ["held"], retry, errors },
    latest: { handlers: { "*": one("latest") }, sources: ["latest"], order: latest, retry, errors },
    jobs: { handlers: { "*": { long: job } }, sources: ["jobs"], retry, errors },
    frail: { handlers: { "*": one("frail") }, sources: ["frail"], retry, errors },
  };
}

/** @param {number} times */
function oneIn(times) {
  return Math.random() * times < 1;
}

/** An ordinary failure, or one of a dependency, for which the whole consumer is paused. */
/** @param {number} times */
function failureOf(times) {
  if (!oneIn(times)) return undefined;
  return Object.assign(new Error("after its writes"), oneIn(2) ? { name: "Down" } : {});
}
