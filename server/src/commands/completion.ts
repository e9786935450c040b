import type { Command } from "commander";
import { CommandFailure } from "../terminal/failure.js";
import type { CommandContext } from "./command-context.js";
import { defineCommand } from "./define-command.js";

/** What may follow the words of a command line: by the words before, joined with spaces. */
export type Completions = ReadonlyMap<string, readonly string[]>;

/** Every command with the commands and flags that may follow it. */
export function completionsOf(program: Command): Completions {
  const found = new Map<string, readonly string[]>();
  const visit = (command: Command, path: readonly string[]): void => {
    const commands = command.commands.filter((each) => each.name() !== "help");
    const flags = command.options.map(({ long, short }) => long ?? short ?? "");
    found.set(path.join(" "), [...commands.map((each) => each.name()), ...flags, "--help"]);
    for (const each of commands) visit(each, [...path, each.name()]);
  };
  visit(program, []);
  return found;
}

const SHELLS = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** Adds `posthorn completion`, which prints what a shell reads. */
export function registerCompletion(program: Command, context: CommandContext): void {
  defineCommand<object>(program, context, {
    form: "completion <shell>",
    says: "Print a script that completes commands and flags, for bash, zsh or fish.",
    examples: [
      "source <(posthorn completion bash)",
      "posthorn completion fish > ~/.config/fish/completions/posthorn.fish",
    ],
    local: true,
    run: async ({ args: [shell = ""], context: { terminal } }) => {
      if (!Object.hasOwn(SHELLS, shell)) {
        throw new CommandFailure("usage", `There is no completion for "${shell}".`, {
          cure: `There is one for ${Object.keys(SHELLS).join(", ")}.`,
        });
      }
      terminal.write(SHELLS[shell as keyof typeof SHELLS](completionsOf(program)));
      await Promise.resolve();
    },
  });
}

/** One case for each command; the words before the cursor are cut down until a command matches. */
function wordsFunction(completions: Completions): string {
  const cases = [...completions].map(([path, words]) => `    "${path}") echo "${words.join(" ")}" ;;`);
  return `_posthorn_words() {
  case "$1" in
${cases.join("\n")}
    *) return 1 ;;
  esac
}`;
}

function bashScript(completions: Completions): string {
  return `${wordsFunction(completions)}
_posthorn() {
  local path="" word words
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] && continue
    _posthorn_words "\${path:+$path }$word" >/dev/null && path="\${path:+$path }$word"
  done
  words="$(_posthorn_words "$path")"
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _posthorn posthorn
`;
}

function zshScript(completions: Completions): string {
  return `#compdef posthorn
${wordsFunction(completions)}
_posthorn() {
  local line="" word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [[ $word == -* ]] && continue
    _posthorn_words "\${line:+$line }$word" >/dev/null && line="\${line:+$line }$word"
  done
  compadd -- \${=$(_posthorn_words "$line")}
}
compdef _posthorn posthorn
`;
}

function fishScript(completions: Completions): string {
  const lines = [...completions].flatMap(([path, words]) => {
    const typed =
      path === ""
        ? "test (count (commandline -opc)) -eq 1"
        : `string match -q 'posthorn ${path}*' -- (commandline -opc | string join ' ')`;
    return [`complete -c posthorn -f -n "${typed}" -a "${words.join(" ")}"`];
  });
  return `${lines.join("\n")}\n`;
}
