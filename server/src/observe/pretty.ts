import { paint } from "../terminal/colour.js";
import type { Tone } from "../terminal/colour.js";
import { neutralise } from "../terminal/neutralise.js";

const TONES: Readonly<Record<string, Tone>> = { debug: "faint", info: "good", warn: "warn", error: "bad" };
/** Fields that are shown in front, or are of no interest on one node's terminal. */
const SHOWN_ELSEWHERE: ReadonlySet<string> = new Set(["level", "time", "msg", "node", "err"]);

/** Formats a JSON line of the log for people. Any other line is neutralised and shown. */
export function prettyLine(json: string, colour: boolean): string {
  const line = parsed(json);
  if (line === undefined) return `${neutralise(json.trimEnd())}\n`;
  const { level, time, msg, err } = line;
  const fields = Object.entries(line)
    .filter(([name, value]) => !SHOWN_ELSEWHERE.has(name) && value !== undefined && value !== null)
    .map(([name, value]) => `${paint(`${neutralise(name)}=`, "faint", colour)}${fieldText(value)}`);
  const clock = String(time).slice(11, 23);
  const label = paint(String(level).padEnd(5), TONES[String(level)] ?? "plain", colour);
  const head = `${paint(neutralise(clock), "faint", colour)} ${label} ${neutralise(typeof msg === "string" ? msg : "")}`;
  return `${[head, ...fields, ...errorText(err)].join(" ")}\n`;
}

function fieldText(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return neutralise(/[\s"=]/.test(text) && typeof value === "string" ? JSON.stringify(value) : text);
}

function errorText(err: unknown): readonly string[] {
  if (typeof err !== "object" || err === null) return [];
  const { message, stack } = err as { readonly message?: unknown; readonly stack?: unknown };
  const lines = typeof stack === "string" ? stack.split("\n") : [String(message)];
  return [`\n${lines.map((each) => `    ${neutralise(each.trim())}`).join("\n")}`];
}

function parsed(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
}
