import { pino } from "pino";
import type { Logger as PinoLogger } from "pino";
import type { Settings } from "../config/settings.js";
import { prettyLine } from "./pretty.js";
import { redactFields, redactText } from "./redact.js";

/** Writes log lines: never a secret, never a payload. */
export type Logger = Pick<PinoLogger, "debug" | "info" | "warn" | "error">;

/** Where lines are written: the standard error, or a test's list. */
export interface LogOutput {
  write(text: string): void;
  readonly isTty: boolean;
  readonly colour: boolean;
}

/** Makes the log of a node: JSON lines, or lines for people on a terminal. */
export function createLog(
  { logLevel, logFormat }: Pick<Settings, "logLevel" | "logFormat">,
  output: LogOutput,
  node?: string,
): Logger {
  const pretty = logFormat === "pretty" || (logFormat === "auto" && output.isTty);
  const write = (line: string): void => {
    const safe = redactText(line);
    output.write(pretty ? prettyLine(safe, output.colour) : safe);
  };
  return pino(
    {
      level: logLevel,
      base: node === undefined ? null : { node },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: (fields) => redactFields(fields) },
      serializers: { err: errorFields },
    },
    { write },
  );
}

/** Only some fields: a database's error quotes the row that it refused. */
function errorFields(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack } = error;
  const { code } = error as { readonly code?: unknown };
  const cause = error.cause instanceof Error ? error.cause.message : undefined;
  return { type: name, code: typeof code === "string" ? code : undefined, message, cause, stack };
}
