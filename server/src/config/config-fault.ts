import { CommandFailure } from "../terminal/failure.js";

/** A mistake in the configuration. */
export interface ConfigFault {
  /** `posthorn.yaml:12`, `--listen` or `POSTHORN_LISTEN`. */
  readonly where: string;
  readonly message: string;
}

/** Reports all mistakes at once: otherwise each would take another start. */
export function configRefused(problems: readonly ConfigFault[]): CommandFailure {
  const lines = problems.map(({ where, message }) => `${where}: ${message}`);
  const count = problems.length === 1 ? "a problem" : `${problems.length} problems`;
  return new CommandFailure("usage", `The configuration has ${count}.\n${lines.join("\n")}`, {
    code: "config_invalid",
    cure: "`posthorn config` prints every setting with its default and what it means.",
  });
}
