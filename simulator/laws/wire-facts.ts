import type { Settlement } from "../../library/src/lanes/lane-store.js";
import type { Outcome } from "../../library/src/delivery/outcome.js";
import type { LaneView } from "./lane-view.js";
import type { LogRecord, SightingOf } from "../world/run-log.js";
import type { Who } from "../world/who.js";
import type { Report } from "./violation.js";

/** What an observer of the wire knows: what was sent, by which node, and which outcome the sender got. */
export class WireFacts {
  readonly #report: Report;
  readonly #posts = new Map<number, SightingOf<"post">>();
  /** By the sender's life and the event: the answers in their order. */
  readonly #answers = new Map<string, Outcome[]>();
  /** Posts that a receiver answered with success. */
  readonly #acknowledged = new Set<string>();

  constructor(report: Report) {
    this.#report = report;
  }

  observe(record: LogRecord): void {
    if (record.kind === "post") this.#posts.set(record.post, record);
    else if (record.kind === "unsent") this.#tell(record, record.outcome);
    else if (record.kind === "answer") {
      const post = this.#posts.get(record.post);
      if (post !== undefined) this.#tell(post, record.outcome);
    } else if (record.kind === "reply" && record.status >= 200 && record.status <= 299) {
      const post = this.#posts.get(record.post);
      if (post !== undefined) this.#acknowledged.add(`${post.endpoint} ${post.eventId}`);
    }
  }

  postOf(post: number): SightingOf<"post"> | undefined {
    return this.#posts.get(post);
  }

  /** The last outcome that this life got for the event. */
  answerOf(eventId: string, who: Who, endpoint = ""): Outcome | undefined {
    return this.#answers.get(nameOf(eventId, who, endpoint))?.at(-1);
  }

  /** Judges a settlement's attempts by what was on the wire. */
  judgeAttempts(view: LaneView, { claim, attempts, acknowledged }: Settlement, who: Who): void {
    let expected = view.attempts + 1;
    for (const { sequence, number, outcome } of attempts) {
      const index = claim.run.findIndex((each) => each.sequence === sequence);
      if (index > 0) expected = 1;
      const what = `attempt ${number} of ${sequence} of ${view.name}`;
      if (number !== expected) this.#report("I10", `${what}; expected number ${expected}`);
      const eventId = claim.run[index]?.event.id ?? "";
      const told = this.answerOf(eventId, who, view.endpoint);
      if (told === undefined) this.#report("I10", `${what} was told, and never on the wire`);
      else if (told.kind !== outcome)
        this.#report("I10", `${what} is ${outcome} by its record, ${told.kind} on the wire`);
    }
    for (const { sequence, event } of claim.run.slice(0, acknowledged)) {
      if (this.#acknowledged.has(`${view.endpoint} ${event.id}`)) continue;
      this.#report("I6", `${sequence} of ${view.name} counts as delivered, and its receiver never took it`);
    }
  }

  #tell(to: Who & { readonly eventId: string; readonly endpoint: string }, outcome: Outcome): void {
    const name = nameOf(to.eventId, to, to.endpoint);
    const answers = this.#answers.get(name) ?? [];
    answers.push(outcome);
    this.#answers.set(name, answers);
  }
}

function nameOf(eventId: string, { node, life }: Who, endpoint: string): string {
  return `${node} ${life} ${endpoint} ${eventId}`;
}
