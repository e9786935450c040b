import { CommandFailure } from "./failure.js";
import { neutralise } from "./neutralise.js";
import type { Terminal } from "./terminal.js";

/** Asks before something that cannot be taken back. Throws unless a person, or `--yes`, agrees. */
export async function confirm(
  terminal: Terminal,
  question: string,
  options: { readonly yes: boolean },
): Promise<void> {
  if (options.yes) return;
  // A script must neither hang at a question that nobody sees, nor go on without an answer.
  if (!terminal.inputIsTty) {
    throw new CommandFailure("usage", `${question} Nobody can be asked here: this is no terminal.`, {
      cure: "Say --yes to go ahead.",
      code: "confirmation_needed",
    });
  }
  const answer = await terminal.ask(`${neutralise(question)} [y/N] `);
  if (/^y(es)?$/i.test(answer.trim())) return;
  throw new CommandFailure("failed", "Nothing was changed.", { code: "declined" });
}
