import type { Need, Status } from "posthorn/client";
import { describe, expect, it } from "vitest";
import { needHref, splitSentence, verdictOf } from "./verdict.ts";

const need = (part: Partial<Need>): Need =>
  ({ kind: "lane_halted", level: "bad", laneId: null, endpointId: null, source: null, ...part }) as Need;

const status = (sentence: string, needs: readonly Need[], haltedLanes = 0): Status =>
  ({ sentence, ok: needs.every(({ level }) => level !== "bad"), needs, counts: { haltedLanes } }) as Status;

describe("the sentence of the overview", () => {
  it("says what the server says, headline first", () => {
    expect(splitSentence("2 lanes are halted; 41 events wait. Oldest due: 2 h.")).toEqual([
      "2 lanes are halted; 41 events wait.",
      "Oldest due: 2 h.",
    ]);
    expect(splitSentence("Nothing is stuck.")).toEqual(["Nothing is stuck.", ""]);
  });

  it("is calm where nothing needs a person", () => {
    const calm = verdictOf(status("Nothing is stuck.", []));
    expect([calm.tone, calm.act]).toEqual(["landed", undefined]);
  });

  it("leads to the one lane, or to all that are halted", () => {
    const one = verdictOf(status("1 lane is halted.", [need({ laneId: "12" })], 1));
    expect(one).toMatchObject({ tone: "halted", act: { label: "Look at the lane", href: "/lanes/12" } });
    const many = verdictOf(status("3 lanes are halted.", [need({ laneId: "12" })], 3));
    expect(many.act).toEqual({ label: "Look at the 3 lanes", href: "/lanes" });
  });

  it("leads from each trouble to where it can be mended", () => {
    expect(needHref(need({ kind: "source_rejecting", source: "stripe" }))).toBe("/rejected?source=stripe");
    expect(needHref(need({ kind: "endpoint_failing", endpointId: "ep_a" }))).toBe("/endpoints/ep_a");
    expect(needHref(need({ kind: "dead_letters", endpointId: "ep_a" }))).toBe("/dead?endpoint=ep_a");
    expect(needHref(need({ kind: "key_held", source: "shop", key: "7" }))).toBe(
      "/inbox/held?source=shop&key=7",
    );
    expect(needHref(need({ kind: "consumer_paused", endpointId: "hnd_a" }))).toBe("/consumers/hnd_a");
    expect(needHref(need({ kind: "no_worker", endpointId: "hnd_a" }))).toBe("/consumers/hnd_a");
  });
});
