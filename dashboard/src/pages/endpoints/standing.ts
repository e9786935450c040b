import type { Endpoint, EndpointStanding, SourceStanding } from "posthorn/client";
import { count } from "../../words/format.ts";
import { endpointLook } from "../../words/words.ts";
import type { Look } from "../../words/words.ts";

/** How an endpoint stands, its lanes included. */
export function standingLook(standing: EndpointStanding): Look {
  switch (standing.state) {
    case "halted":
      return { tone: "halted", icon: "s-halted", word: `${count(standing.haltedLanes, "lane")} halted` };
    case "parked":
      return { tone: "paused", icon: "s-paused", word: `${count(standing.parkedLanes, "lane")} parked` };
    case "failing":
      return { tone: "retrying", icon: "s-failing", word: "failing" };
    case "active":
    case "paused":
    case "disabled":
      return endpointLook(standing.state);
  }
}

const SOURCE_LOOKS: Readonly<Record<SourceStanding["state"], Look>> = {
  active: { tone: "landed", icon: "s-active", word: "active" },
  silent: { tone: "retrying", icon: "s-silent", word: "silent" },
  rejecting: { tone: "halted", icon: "s-failing", word: "rejecting" },
  new: { tone: "waiting", icon: "s-silent", word: "nothing yet" },
};

export function sourceLook({ state }: Pick<SourceStanding, "state">): Look {
  return SOURCE_LOOKS[state];
}

const NOTHING_YET = {
  attempts: 0,
  delivered: 0,
  failed: 0,
  dead: 0,
  p50Ms: null,
  p99Ms: null,
  lagP99Ms: null,
};
const NO_LANES = {
  waiting: 0,
  haltedLanes: 0,
  parkedLanes: 0,
  retryingLanes: 0,
  oldestMs: null,
  exact: true,
};

/** An endpoint of which the status has not told yet: it was just added. */
export function bareStanding({ id, tenant, url, state, because }: Endpoint): EndpointStanding {
  return { id, tenant, url, state, configured: state, because, ...NO_LANES, recent: NOTHING_YET };
}
