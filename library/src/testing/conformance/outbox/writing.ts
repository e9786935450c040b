import { ENDPOINTS } from "../../../lanes/lane-store.js";
import { utf8 } from "../../../bytes.js";
import { alike, holds, same, soon } from "../expectation.js";
import type { OutboxPledge } from "./harness.js";
import {
  acknowledge,
  addEndpoint,
  claimOne,
  claimsNothing,
  deliverAll,
  eventOf,
  outboxOf,
  publish,
  sequenceAll,
  writeInTransaction,
} from "./steps.js";

/** What `write` and `append` promise. */
export const outboxWriting: readonly OutboxPledge[] = [
  {
    name: "events written into a transaction of the host are there when it commits",
    async check(bench) {
      await addEndpoint(bench);
      const events = [await eventOf({ id: "e1" }), await eventOf({ id: "e2" })];
      alike(await writeInTransaction(bench, [events]), [["written", "written"]], "write");
      await sequenceAll(bench);
      same(await deliverAll(bench), "e1 e2", "what is delivered");
    },
  },
  {
    name: "events written into a transaction of the host never were when it rolls back",
    async check(bench) {
      await addEndpoint(bench);
      const given = await eventOf({ id: "given", idGiven: true });
      const thrown = new Error("rolled back by the case");
      const rolledBack = writeInTransaction(bench, [[await eventOf(), given]], thrown);
      same(await rolledBack.catch((error: unknown) => error), thrown, "what the transaction threw");
      await sequenceAll(bench);
      await claimsNothing(bench, "of a transaction that rolled back");
      alike(await outboxOf(bench).append([given]), ["written"], "append of the same id afterwards");
    },
  },
  {
    name: "events of one transaction are in the order in which they were written",
    async check(bench) {
      await addEndpoint(bench);
      const calls = [["e1", "e2", "e3"], ["e4"], ["e5", "e6"]].map((ids) =>
        Promise.all(ids.map((id) => eventOf({ id }))),
      );
      await writeInTransaction(bench, await Promise.all(calls));
      await sequenceAll(bench);
      same(await deliverAll(bench), "e1 e2 e3 e4 e5 e6", "what is delivered");
    },
  },
  {
    name: "a second event of a given id with the same type and body is a duplicate, and is not sent again",
    async check(bench) {
      await addEndpoint(bench);
      const event = await eventOf({ idGiven: true });
      alike(await outboxOf(bench).append([event]), ["written"], "the first append");
      alike(await outboxOf(bench, 1).append([event]), ["duplicate"], "the second append");
      alike(await writeInTransaction(bench, [[event]]), [["duplicate"]], "a write of it");
      await sequenceAll(bench);
      same(await deliverAll(bench), "e1", "what is delivered");
      alike(await outboxOf(bench).append([event]), ["duplicate"], "an append after its delivery");
      await sequenceAll(bench);
      await claimsNothing(bench, "of a duplicate");
    },
  },
  {
    name: "a given id twice in one call or one transaction is written once",
    async check(bench) {
      await addEndpoint(bench);
      const one = await eventOf({ id: "one", idGiven: true });
      const two = await eventOf({ id: "two", idGiven: true });
      alike(await outboxOf(bench).append([one, one]), ["written", "duplicate"], "append");
      alike(
        await writeInTransaction(bench, [[two, one], [two]]),
        [["written", "duplicate"], ["duplicate"]],
        "writes of one transaction",
      );
      await sequenceAll(bench);
      same(await deliverAll(bench), "one two", "what is delivered");
    },
  },
  {
    name: "a second event of a given id with another body is a conflict, and nothing of the call is written",
    async check(bench) {
      await addEndpoint(bench);
      const first = await eventOf({ idGiven: true });
      const other = await eventOf({ idGiven: true, body: utf8("other") });
      const beside = await eventOf({ id: "beside", idGiven: true });
      await outboxOf(bench).append([first]);
      same((await outboxOf(bench).append([beside, other]))[1], "conflict", "append of another body");
      const [written] = await writeInTransaction(bench, [[other, beside]]);
      same(written?.[0], "conflict", "write of another body");
      await sequenceAll(bench);
      same(await deliverAll(bench), "e1", "what is delivered");
      alike(await outboxOf(bench).append([beside]), ["written"], "append of the other event afterwards");
      alike(await outboxOf(bench).append([first]), ["duplicate"], "append of the first body again");
    },
  },
  {
    name: "a second event of a given id with another type is a conflict, though its body is the same",
    async check(bench) {
      await addEndpoint(bench);
      const first = await eventOf({ idGiven: true });
      const other = await eventOf({ idGiven: true, type: "order.refunded" });
      await outboxOf(bench).append([first]);
      alike(await outboxOf(bench).append([other]), ["conflict"], "append of another type");
      alike(await writeInTransaction(bench, [[other]]), [["conflict"]], "write of another type");
      await sequenceAll(bench);
      same(await deliverAll(bench), "e1", "what is delivered");
    },
  },
  {
    name: "two bodies of one given id in one call are a conflict",
    async check(bench) {
      await addEndpoint(bench);
      const first = await eventOf({ idGiven: true });
      const other = await eventOf({ idGiven: true, body: utf8("other") });
      same((await outboxOf(bench).append([first, other]))[1], "conflict", "append of both");
      const [written] = await writeInTransaction(bench, [[first, other]]);
      same(written?.[1], "conflict", "write of both");
      await sequenceAll(bench);
      await claimsNothing(bench, "of a call with a conflict");
    },
  },
  {
    name: "a duplicate or a conflict leaves the host's transaction fit for use",
    async check(bench) {
      await addEndpoint(bench);
      const first = await eventOf({ idGiven: true });
      const other = await eventOf({ idGiven: true, body: utf8("other") });
      await outboxOf(bench).append([first]);
      await writeInTransaction(bench, [[first], [other], [await eventOf({ id: "e2" })]]);
      await sequenceAll(bench);
      same(await deliverAll(bench), "e1 e2", "what is delivered");
    },
  },
  {
    name: "the same given id of another tenant is another event",
    async check(bench) {
      await addEndpoint(bench);
      await addEndpoint(bench, { id: "ep_b", tenant: "acme" });
      const mine = await eventOf({ idGiven: true });
      const theirs = await eventOf({ idGiven: true, tenant: "acme", body: utf8("theirs") });
      alike(await outboxOf(bench).append([mine, theirs]), ["written", "written"], "append");
      await sequenceAll(bench);
      same(await deliverAll(bench), "e1 e1", "what is delivered");
    },
  },
  {
    name: "append rings the bell",
    async check(bench) {
      const outbox = outboxOf(bench);
      const hints: string[] = [];
      const stop = outbox.wake.listen((hint) => void hints.push(hint));
      await outbox.append([await eventOf()]);
      stop();
      holds(hints.includes("committed"), `The wake said ${hints.join(", ") || "nothing"}, not committed`);
    },
  },
  {
    name: "appends of the same moment keep the order of the calls",
    async check(bench) {
      await addEndpoint(bench);
      const ids = Array.from({ length: 20 }, (_, n) => `e${n}`);
      const events = await Promise.all(ids.map((id) => eventOf({ id })));
      const written = await Promise.all(events.map((event) => outboxOf(bench).append([event])));
      alike(
        written.flat(),
        ids.map(() => "written"),
        "append",
      );
      await sequenceAll(bench);
      same(await deliverAll(bench), ids.join(" "), "what is delivered");
    },
  },
  {
    name: "a conflict among appends of the same moment is its own caller's alone",
    async check(bench) {
      await addEndpoint(bench);
      const known = await eventOf({ id: "known", idGiven: true });
      const conflict = await eventOf({ id: "known", idGiven: true, body: utf8("other") });
      await outboxOf(bench).append([known]);
      const others = await Promise.all(["e1", "e2"].map((id) => eventOf({ id, idGiven: true })));
      const [e1 = [], e2 = []] = others.map((event) => [event]);
      const written = await Promise.all([e1, [conflict], e2].map((each) => outboxOf(bench).append(each)));
      alike(written, [["written"], ["conflict"], ["written"]], "append");
      await sequenceAll(bench);
      same(await deliverAll(bench), "known e1 e2", "what is delivered");
    },
  },
  {
    name: "of all concurrent appends of one given id, exactly one is written",
    async check(bench) {
      await addEndpoint(bench);
      const event = await eventOf({ idGiven: true });
      const appends = Array.from({ length: 8 }, (_, at) => outboxOf(bench, at).append([event]));
      const written = (await soon(Promise.all(appends), "concurrent appends", bench.patienceMs)).flat();
      same(written.filter((each) => each === "written").length, 1, "how many were written");
      same(written.filter((each) => each === "duplicate").length, 7, "how many were duplicates");
      await sequenceAll(bench);
      same(await deliverAll(bench), "e1", "what is delivered");
    },
  },
  {
    name: "if one event was committed before another was written, it comes first",
    async check(bench) {
      await addEndpoint(bench);
      await outboxOf(bench, 0).append([await eventOf({ id: "e1" })]);
      await writeInTransaction(bench, [[await eventOf({ id: "e2" })]]);
      await outboxOf(bench, 1).append([await eventOf({ id: "e3" })]);
      await publish(bench, ["e4"]);
      same(await deliverAll(bench), "e1 e2 e3 e4", "what is delivered");
    },
  },
  {
    name: "an event that no endpoint wants goes nowhere",
    async check(bench) {
      await publish(bench, ["nobody"]);
      await addEndpoint(bench, { types: ["invoice.*"] });
      await publish(bench, ["other"]);
      await claimsNothing(bench, "of what nobody wants");
      same(await outboxOf(bench).untilDue(ENDPOINTS), undefined, "untilDue");
      await publish(bench, ["wanted"], { type: "invoice.paid" });
      await acknowledge(bench, await claimOne(bench));
    },
  },
];
