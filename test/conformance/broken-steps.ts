import type { longStepFlaws } from "./outbox-flaws/long-steps.js";

const STATES =
  "a step is new once, begun until its result is kept, and done from then on; its first result stays";
const OTHERS = "steps of other events, consumers, rounds and names are other steps";

/** As `BROKEN_OUTBOXES`: for every flaw of steps promises that it breaks. */
export const BROKEN_STEPS: Readonly<Record<keyof typeof longStepFlaws, readonly string[]>> = {
  step_always_new: [STATES],
  step_never_done: [STATES],
  steps_shared_by_rounds: [OTHERS],
  steps_shared_by_consumers: [OTHERS],
  steps_kept_for_ever: ["steps are removed with their event, and not before"],
  round_of_every_event_two: ["the round of an event is 1 where nobody has replayed it"],
  round_without_its_outcome: ["the round of an event is told with its outcome: none before it was handled"],
};
