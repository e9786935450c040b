import { unknownOption } from "../known-options.js";
import { PosthornError } from "../posthorn-error.js";
import type { OperatorErrorCode } from "./operator-errors.js";

const ADDRESS = ["tenant", "source", "id", "consumer"] as const;
const MOST = 1000;

/** Refuses what names no row of the inbox: an address without its consumer would be that of nobody. */
export function checkRows(verb: string, rows: unknown): void {
  if (!Array.isArray(rows))
    throw invalid(`${verb} is given ${kindOf(rows)}; expected a list of rows, as \`inboxRows\` gives them`);
  for (const [n, row] of rows.entries()) {
    const at = `row ${n + 1}`;
    if (typeof row !== "object" || row === null)
      throw invalid(`${verb}: ${at} is ${shown(row)}; expected { ${ADDRESS.join(", ")} }`);
    const missing = ADDRESS.find((name) => typeof (row as Record<string, unknown>)[name] !== "string");
    if (missing !== undefined)
      throw invalid(
        `${verb}: ${at} has no ${missing}; expected { ${ADDRESS.join(", ")} }, where \`consumer\` is "default" for handlers without a name`,
      );
  }
}

/** Refuses what is no object of names, and a name that is not known. */
export function checkNames(of: string, given: unknown, known: Readonly<object>): void {
  if (!isObject(given))
    throw invalid(`${of} is ${kindOf(given)}; expected an object of ${Object.keys(known).join(", ")}`);
  const unknown = unknownOption(of, given, known);
  if (unknown !== undefined) throw new PosthornError<OperatorErrorCode>("operator_option_invalid", unknown);
}

/** What a compiler refuses, for hosts that have none: a word misspelt, or a look that says nothing, must change nothing. */
export function checkReconcile(options: object): void {
  const asked = options as Readonly<Record<string, unknown>>;
  const { since, until, wasApplied, missing = "report", extra = "report", limit = MOST } = asked;
  if (since === undefined)
    throw invalid("since is missing; expected a Date: what was first received then or later is compared");
  checkDate("since", since);
  checkDate("until", until);
  if (typeof wasApplied !== "function")
    throw invalid(`wasApplied is ${kindOf(wasApplied)}; expected a function of the event and a transaction`);
  if (missing !== "report" && missing !== "replay")
    throw invalid(`missing is ${shown(missing)}; expected "report" or "replay"`);
  if (extra !== "report" && extra !== "mark")
    throw invalid(`extra is ${shown(extra)}; expected "report" or "mark"`);
  if (typeof limit !== "number" || !Number.isInteger(limit) || limit < 1 || limit > MOST)
    throw invalid(`limit is ${shown(limit)}; expected a whole number from 1 to ${MOST}`);
}

/** What a look found. A promise on SQLite, or a row in place of an answer, would count as "applied". */
export function checkFound(found: unknown, { source, id }: { source: string; id: string }): boolean {
  if (typeof found === "boolean") return found;
  throw invalid(`wasApplied returned ${kindOf(found)} for ${source}/${id}; expected true or false`);
}

/** Refuses a pause that nobody could understand: a store would keep it without its reason, or not at all. */
export function checkPause(pause: unknown): void {
  const { because } = Object(pause) as { readonly because?: unknown };
  if (typeof because === "string" && because.trim() !== "") return;
  const found = because === undefined ? "missing" : shown(because);
  throw invalid(
    `because is ${found}: say why, for whoever finds it paused: pause("hnd_billing", { because: "the ledger is down" })`,
  );
}

/** Nobody could say later why a handler has gone. */
export function checkRemoval(removal: unknown): void {
  const { because } = Object(removal) as { readonly because?: unknown };
  if (typeof because === "string" && because.trim() !== "") return;
  throw new PosthornError<OperatorErrorCode>(
    "operator_option_invalid",
    'because is missing; expected a text that says why the handler is removed, as "it is called invoicing now".',
    { detail: { field: "because" } },
  );
}

/** Refuses a reason that nobody would read: a text in its place would be done, and told without who and why. */
export function checkReason(verb: string, reason: unknown): void {
  if (reason === undefined) return;
  if (typeof reason !== "object" || reason === null || Array.isArray(reason))
    throw invalid(
      `${verb} is given ${shown(reason)} as its reason; expected { because, by }, both of them texts`,
    );
  for (const name of ["because", "by"]) {
    const value = (reason as Readonly<Record<string, unknown>>)[name];
    if (value !== undefined && typeof value !== "string")
      throw invalid(`${name} is ${shown(value)}; expected a text`);
  }
}

export function checkDate(name: string, value: unknown): void {
  if (value === undefined) return;
  if (!(value instanceof Date)) throw invalid(`${name} is ${kindOf(value)}; expected a valid Date`);
  if (Number.isNaN(value.getTime())) throw invalid(`${name} is an invalid Date; expected a valid Date`);
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function kindOf(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (typeof value !== "object") return `of type ${typeof value}`;
  if (Array.isArray(value)) return "a list";
  return typeof (value as { then?: unknown }).then === "function" ? "a promise" : "an object";
}

export function shown(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 80) ?? typeof value;
}

export function invalid(found: string): PosthornError<OperatorErrorCode> {
  return new PosthornError("operator_option_invalid", `${found}.`);
}
