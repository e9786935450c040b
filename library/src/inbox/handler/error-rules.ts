import { PosthornError } from "../../posthorn-error.js";
import { checkRetry } from "../../work/retry-policy.js";
import type { RetryOptions, RetryPolicy } from "../../work/retry-policy.js";
import type { InboxErrorCode } from "../inbox-errors.js";

/** What a handler may throw by its class. */
export type ErrorClass = abstract new (...args: never[]) => object;

/** An HTTP status, or a hundred of them. */
export type StatusMatch = number | "4xx" | "5xx";

/** Which errors a rule is for. All that is named must hold, of the error or of one of its causes; a list means any of its entries. */
export interface ErrorMatch {
  /** The error's `name`. */
  readonly name?: string | readonly string[];
  /** Its `code`: `"ECONNREFUSED"`, `"40001"`, `"handler_deadline"`. */
  readonly code?: string | number | readonly (string | number)[];
  readonly class?: ErrorClass | readonly ErrorClass[];
  /** Its `status`, `statusCode` or `response.status`. */
  readonly status?: StatusMatch | readonly StatusMatch[];
  /** Whatever else can be told. One that throws does not match. */
  readonly test?: (error: unknown) => boolean;
}

/** What is done about an error. */
export type ErrorDeed =
  /** Run again at once, up to so many times; after that as if there were no rule. */
  | { readonly retryNow: number }
  /** Run again by this policy, in place of the consumer's. */
  | { readonly retryLater: RetryOptions }
  /** Given up at once: a dead letter, which does to its lane what the consumer's `dead` says. */
  | { readonly dead: true }
  /** Recorded as skipped, with this reason; its lane goes on. */
  | { readonly skip: string }
  /** The whole consumer is paused for so long, in every process; the event stays where it is, and spends no retry. */
  | { readonly pauseMs: number };

/** One rule for errors of handlers, as data. */
export interface ErrorRule {
  readonly when: ErrorMatch;
  readonly do: ErrorDeed;
}

/** A deed, checked and complete. */
export type CheckedDeed =
  | { readonly kind: "retry_now"; readonly times: number }
  | { readonly kind: "retry_later"; readonly retry: RetryPolicy }
  | { readonly kind: "dead" }
  | { readonly kind: "skip"; readonly because: string }
  | { readonly kind: "pause"; readonly forMs: number };

/** A rule, checked. */
export interface CheckedRule {
  readonly matches: (error: unknown) => boolean;
  readonly deed: CheckedDeed;
}

const MOST_NOW = 100;
const MOST_REASON = 500;
// Below, it is no pause; above, nobody would remember it.
const [LEAST_PAUSE_MS, MOST_PAUSE_MS] = [100, 86_400_000];

/** Checks rules once, where they are handed in: one that is found out at the first error would lose that event's retries. */
export function checkErrorRules(rules: readonly ErrorRule[] = []): readonly CheckedRule[] {
  if (!Array.isArray(rules)) throw invalid("errors", "expected a list of rules");
  return rules.map((rule: ErrorRule, n) => {
    const at = `errors[${n}]`;
    if (!isObject(rule)) throw invalid(at, "expected an object with `when` and `do`");
    return { matches: matcherOf(rule.when, `${at}.when`), deed: checkDeed(rule.do, `${at}.do`) };
  });
}

/** What the first rule that matches says of an error; undefined where none does. */
export function deedFor(rules: readonly CheckedRule[], error: unknown): CheckedDeed | undefined {
  return rules.find(({ matches }) => matches(error))?.deed;
}

const DEEDS: Readonly<Record<string, (value: never, at: string) => CheckedDeed>> = {
  retryNow(times: number, at) {
    if (Number.isInteger(times) && times >= 1 && times <= MOST_NOW) return { kind: "retry_now", times };
    throw invalid(at, `it is ${String(times)}; expected a whole number from 1 to ${MOST_NOW}`);
  },
  retryLater: (options: RetryOptions, at) => {
    if (isObject(options)) return { kind: "retry_later", retry: checkRetry(options) };
    throw invalid(at, "expected a retry policy, as `retry` of a consumer");
  },
  dead(value: unknown, at) {
    if (value === true) return { kind: "dead" };
    throw invalid(at, `it is ${String(value)}; expected true`);
  },
  skip(because: unknown, at) {
    const isReason = typeof because === "string" && because.trim() !== "" && because.length <= MOST_REASON;
    if (isReason) return { kind: "skip", because };
    throw invalid(at, `expected a reason of 1 to ${MOST_REASON} characters, which is kept with the event`);
  },
  pauseMs(forMs: unknown, at) {
    const isTime = typeof forMs === "number" && forMs >= LEAST_PAUSE_MS && forMs <= MOST_PAUSE_MS;
    if (isTime) return { kind: "pause", forMs };
    throw invalid(
      at,
      `it is ${String(forMs)}; expected ${LEAST_PAUSE_MS} to ${MOST_PAUSE_MS}, which is a day`,
    );
  },
};

function checkDeed(deed: ErrorDeed, at: string): CheckedDeed {
  const [[name, value] = [], ...others] = isObject(deed) ? Object.entries(deed) : [];
  const check = name !== undefined && others.length === 0 && Object.hasOwn(DEEDS, name) && DEEDS[name];
  if (check === undefined || check === false) {
    throw invalid(at, `expected exactly one of ${Object.keys(DEEDS).join(", ")}`);
  }
  return check(value as never, `${at}.${name}`);
}

// How far an error's causes are followed: one may be its own cause.
const MOST_CAUSES = 8;

function matcherOf(match: ErrorMatch, at: string): (error: unknown) => boolean {
  const tests = isObject(match) ? testsOf(match, at) : [];
  if (tests.length === 0) {
    throw invalid(
      at,
      "it names nothing, and would match every error; expected name, code, class, status or test",
    );
  }
  return (error) => chainOf(error).some((each) => tests.every((test) => test(each)));
}

type Test = (error: unknown) => boolean;

const TESTS: Readonly<Record<keyof ErrorMatch, (wanted: never, at: string) => Test>> = {
  name: (wanted: ErrorMatch["name"], at) => isOneOf(wanted, at, ["string"], (error) => field(error, "name")),
  code: (wanted: ErrorMatch["code"], at) =>
    isOneOf(wanted, at, ["string", "number"], (error) => field(error, "code")),
  class(wanted: ErrorMatch["class"], at) {
    const classes = listOf(wanted, at, ["function"]) as readonly ErrorClass[];
    return (error) => classes.some((each) => error instanceof each);
  },
  status(wanted: ErrorMatch["status"], at) {
    const statuses = listOf(wanted, at, ["number", "string"]) as readonly StatusMatch[];
    for (const status of statuses) {
      if (typeof status === "string" && status !== "4xx" && status !== "5xx") {
        throw invalid(at, `it is ${JSON.stringify(status)}; expected a number, "4xx" or "5xx"`);
      }
    }
    return (error) => statuses.some((status) => isOfStatus(statusOf(error), status));
  },
  test(wanted: unknown, at) {
    const [asked] = listOf(wanted, at, ["function"]) as readonly Test[];
    return (error) => isTrue(() => asked?.(error) === true);
  },
};

function testsOf(match: ErrorMatch, at: string): readonly Test[] {
  return Object.entries(match).map(([name, wanted]) => {
    if (!Object.hasOwn(TESTS, name))
      throw invalid(`${at}.${name}`, `expected one of ${Object.keys(TESTS).join(", ")}`);
    return TESTS[name as keyof ErrorMatch](wanted as never, `${at}.${name}`);
  });
}

function isOneOf(
  wanted: unknown,
  at: string,
  types: readonly string[],
  read: (error: unknown) => unknown,
): Test {
  const values = listOf(wanted, at, types);
  return (error) => values.includes(read(error));
}

function listOf(wanted: unknown, at: string, types: readonly string[]): readonly unknown[] {
  const values: readonly unknown[] = Array.isArray(wanted) ? wanted : [wanted];
  const wrong = values.find((value) => !types.includes(typeof value));
  if (values.length > 0 && wrong === undefined && !values.includes(undefined)) return values;
  // A class that was imported by a wrong name is undefined, and would match nothing, silently.
  throw invalid(at, `it is or has a value of type ${typeof wrong}; expected ${types.join(" or ")}`);
}

/** The error and its causes: clients wrap what the network said. */
function chainOf(error: unknown): readonly unknown[] {
  const chain: unknown[] = [];
  for (let each = error; chain.length < MOST_CAUSES && each !== undefined; each = field(each, "cause")) {
    chain.push(each);
  }
  return chain;
}

function statusOf(error: unknown): unknown {
  return field(error, "status") ?? field(error, "statusCode") ?? field(field(error, "response"), "status");
}

function isOfStatus(found: unknown, wanted: StatusMatch): boolean {
  if (typeof wanted === "number") return found === wanted;
  return typeof found === "number" && Math.floor(found / 100) === (wanted === "4xx" ? 4 : 5);
}

/** Handlers may throw anything, also what throws when it is looked at. */
function field(value: unknown, name: string): unknown {
  try {
    return isObject(value) ? (value as Record<string, unknown>)[name] : undefined;
  } catch {
    return undefined;
  }
}

function isTrue(test: () => boolean): boolean {
  try {
    return test();
  } catch {
    return false;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function invalid(at: string, found: string): PosthornError<InboxErrorCode> {
  return new PosthornError("inbox_option_invalid", `The rules for errors cannot be used: ${at}: ${found}.`);
}
