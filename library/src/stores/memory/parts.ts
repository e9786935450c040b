import type { Clock } from "../../clock.js";
import { LANE_RULE } from "../../lanes/lane-rule.js";
import type { LaneRule } from "../../lanes/lane-rule.js";
import { Wake } from "../../work/wake.js";
import { History } from "./lanes/history.js";
import { LaneTable } from "./lanes/lane-table.js";
import { StepTable } from "./lanes/steps.js";
import { PlaceTable } from "./lanes/place-table.js";
import { EndpointTable } from "./outbox/endpoint-table.js";
import { EventLog } from "./outbox/event-log.js";
import { IngestNames } from "./outbox/ingest.js";
import { RepeatTable } from "./outbox/record-repeats.js";

/** What the verbs of the outbox work on. */
export interface MemoryParts {
  readonly clock: Clock;
  readonly wake: Wake;
  /** What becomes of a lane. A table of functions: tests replace one to see that the conformance kit finds it. */
  readonly rule: LaneRule;
  readonly endpoints: EndpointTable;
  readonly events: EventLog;
  readonly lanes: LaneTable;
  readonly places: PlaceTable;
  readonly history: History;
  readonly names: IngestNames;
  readonly repeats: RepeatTable;
  readonly steps: StepTable;
}

export function openParts(clock: Clock): MemoryParts {
  return {
    clock,
    wake: new Wake(),
    rule: LANE_RULE,
    endpoints: new EndpointTable(clock),
    events: new EventLog(),
    lanes: new LaneTable(),
    places: new PlaceTable(),
    history: new History(),
    names: new IngestNames(clock),
    repeats: new RepeatTable(clock),
    steps: new StepTable(),
  };
}
