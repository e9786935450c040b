import { CommandFailure } from "../terminal/failure.js";

/** Something in the configuration that cannot be used. */
export interface ConfigFault {
  /** `posthorn.yaml:12`, `--listen` or `POSTHORN_LISTEN`. */
  readonly where: string;
  readonly message: string;
}

/** All of them at once: mending one after the other would take a start each. */
export function configRefused(problems: readonly ConfigFault[]): CommandFailure {
  const lines = problems.map(({ where, message }) => `${where}: ${message}`);
  const count = problems.length === 1 ? "a problem" : `${problems.length} problems`;
  return new CommandFailure("usage", `The configuration has ${count}.\n${lines.join("\n")}`, {
    code: "config_invalid",
    cure: "`posthorn config` prints every setting with its default and what it means.",
  });
}
