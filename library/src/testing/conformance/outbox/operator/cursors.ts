import { isPosthornError } from "../../../../posthorn-error.js";
import type { Page } from "../../../../operator/operator-store.js";
import { print, same } from "../../expectation.js";
import type { OutboxPledge } from "../harness.js";
import { addEndpoint, killNext, outboxOf, publish } from "../steps.js";

// Of no list: too large for any column, too many parts, other characters.
const NO_CURSORS = [
  "",
  " ",
  "no cursor of ours",
  "\0",
  "-1",
  "1.5",
  "0x1",
  "99999999999999999999",
  "1_2_3_4_5_6_7",
];

type List = (page: Page) => Promise<unknown>;

async function refuses(name: string, list: List, cursors: readonly string[]): Promise<void> {
  for (const after of cursors) {
    const code = await list({ limit: 10, after }).then(
      () => undefined,
      (error: unknown) => (isPosthornError(error) ? error.code : print(error)),
    );
    same(code, "cursor_invalid", `what ${name} says of the cursor ${print(after)}`);
  }
}

/** What every list of the operator promises. */
export const outboxCursors: readonly OutboxPledge[] = [
  {
    name: "a cursor that no page of a list gave is refused",
    async check(bench) {
      await addEndpoint(bench);
      for (const key of ["a", "b"]) {
        await publish(bench, [`e_${key}`], { key });
        await killNext(bench, "halt");
      }
      const outbox = outboxOf(bench);
      await refuses("blockedLanes", (page) => outbox.blockedLanes(page), NO_CURSORS);
      await refuses("deadLetters", (page) => outbox.deadLetters(page), [
        ...NO_CURSORS,
        "9223372036854775808",
      ]);
      const noIds = ["", " ", "\0", "no id of ours", "é", "e".repeat(65)];
      await refuses("listEndpoints", (page) => outbox.listEndpoints(page), noIds);
    },
  },
];

/** The same of what is found again. */
export const outboxLookupCursors: readonly OutboxPledge[] = [
  {
    name: "a cursor that no page of events or lanes gave is refused",
    async check(bench) {
      await addEndpoint(bench);
      await publish(bench, ["e1"]);
      const outbox = outboxOf(bench);
      const cursors = [...NO_CURSORS, "9223372036854775808", "1_2"];
      await refuses("events", (page) => outbox.events({}, page), cursors);
      await refuses("lanes", (page) => outbox.lanes({}, page), cursors);
      await refuses("lanes of an endpoint", (page) => outbox.lanes({ endpointId: "ep_a" }, page), cursors);
      await refuses("lanes of nobody", (page) => outbox.lanes({ endpointId: "ep_none" }, page), cursors);
    },
  },
];
