import type { Need, Status } from "posthorn/client";
import { consumerHref, endpointHref, laneHref } from "../../place/links.ts";
import { hrefOf } from "../../place/location.ts";
import { count } from "../../words/format.ts";
import type { Look } from "../../words/words.ts";

/** The one sentence of the overview: the server's words, with their colour, and a way to mend it. */
export interface Verdict {
  readonly tone: Look["tone"];
  readonly icon: string;
  readonly title: string;
  readonly more: string;
  readonly act?: { readonly label: string; readonly href: string };
}

/** How each kind of trouble looks. */
export const NEED_LOOKS: Readonly<Record<Need["kind"], Look>> = {
  lane_halted: { tone: "halted", icon: "s-halted", word: "halted" },
  lane_parked: { tone: "paused", icon: "s-paused", word: "parked" },
  lane_retrying: { tone: "retrying", icon: "s-retrying", word: "retrying" },
  endpoint_disabled: { tone: "disabled", icon: "s-disabled", word: "disabled" },
  endpoint_paused: { tone: "paused", icon: "s-paused", word: "paused" },
  endpoint_failing: { tone: "retrying", icon: "s-failing", word: "failing" },
  source_silent: { tone: "retrying", icon: "s-silent", word: "silent" },
  source_rejecting: { tone: "halted", icon: "s-failing", word: "rejecting" },
  store_refusing: { tone: "halted", icon: "s-failing", word: "no writes" },
  no_dispatcher: { tone: "halted", icon: "s-failing", word: "no dispatcher" },
  no_worker: { tone: "halted", icon: "s-failing", word: "no worker" },
  dead_letters: { tone: "dead", icon: "s-dead", word: "dead" },
  key_held: { tone: "paused", icon: "s-silent", word: "held" },
  consumer_paused: { tone: "paused", icon: "s-paused", word: "paused" },
};

/** Where something that needs a person can be mended. */
export function needHref({ kind, laneId, endpointId, source, key }: Need): string {
  if (laneId !== null) return laneHref(laneId);
  switch (kind) {
    case "source_rejecting":
      return hrefOf("/rejected", { source: source ?? undefined });
    case "source_silent":
      return hrefOf(`/sources/${encodeURIComponent(source ?? "")}`);
    case "dead_letters":
      return hrefOf("/dead", { endpoint: endpointId ?? undefined });
    case "store_refusing":
    case "no_dispatcher":
      return hrefOf("/settings");
    case "key_held":
      return hrefOf("/inbox/held", { source: source ?? undefined, key: key ?? undefined });
    case "consumer_paused":
    case "no_worker":
      return endpointId === null ? hrefOf("/consumers") : consumerHref(endpointId);
    case "lane_halted":
    case "lane_parked":
    case "lane_retrying":
      return hrefOf("/lanes");
    case "endpoint_disabled":
    case "endpoint_paused":
    case "endpoint_failing":
      return endpointId === null ? hrefOf("/endpoints") : endpointHref(endpointId);
  }
}

/** Says what the server says, the worst need first. */
export function verdictOf({ sentence, ok, needs, counts }: Status): Verdict {
  const [title, more] = splitSentence(sentence);
  const [first] = needs;
  if (first === undefined || (ok && first.level === "note"))
    return { tone: "landed", icon: "s-landed", title, more };
  const look = ok
    ? { ...NEED_LOOKS[first.kind], tone: "landed" as const, icon: "s-landed" }
    : NEED_LOOKS[first.kind];
  const { haltedLanes } = counts;
  const act =
    first.kind === "lane_halted" && haltedLanes > 1
      ? { label: `Look at the ${count(haltedLanes, "lane")}`, href: hrefOf("/lanes") }
      : { label: ACTS[first.kind], href: needHref(first) };
  return { tone: look.tone, icon: look.icon, title, more, act };
}

const ACTS: Readonly<Record<Need["kind"], string>> = {
  lane_halted: "Look at the lane",
  lane_parked: "Look at the lane",
  lane_retrying: "Look at the lane",
  endpoint_disabled: "Look at the endpoint",
  endpoint_paused: "Look at the endpoint",
  endpoint_failing: "Look at the endpoint",
  source_silent: "Look at the source",
  source_rejecting: "See why",
  store_refusing: "See the server",
  no_dispatcher: "Look at the nodes",
  no_worker: "Look at the consumer",
  dead_letters: "Look at the dead letters",
  key_held: "Look at what is held",
  consumer_paused: "Look at the consumer",
};

/** The first sentence is the headline; what follows explains it. */
export function splitSentence(sentence: string): readonly [title: string, more: string] {
  const end = sentence.indexOf(". ");
  return end === -1 ? [sentence, ""] : [sentence.slice(0, end + 1), sentence.slice(end + 2)];
}
