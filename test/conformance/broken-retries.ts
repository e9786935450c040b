import type { retryingFlaws } from "./outbox-flaws/retrying.js";

/** What breaks of the promises about what a person wants tried now, and says after a restore. */
export const BROKEN_RETRIES: Readonly<Record<keyof typeof retryingFlaws, readonly string[]>> = {
  retry_of_every_endpoint: [
    "retry of an endpoint makes all that has failed there due now, each lane in its order, and nothing of another endpoint",
  ],
  retry_begins_anew: ["retry keeps the failures and attempts of what it makes due"],
  retry_of_the_head_instead: [
    "retry of a delivery makes it due where it is the head of its lane, and changes nothing where others are before it",
  ],
  retry_of_all_without_a_lane: ["retry of a delivery without a lane makes that one due, and no other"],
  retry_redrives_the_dead: [
    "retry changes nothing that was never tried, is due already, is under way or is dead",
  ],
  retry_of_anything: ["retry of what is not there changes nothing"],
  generations_raised_by_one: [
    "raiseGenerations raises that of every lane, and of new ones, by the store's clock; sequences go on",
  ],
};
