import { shellWord } from "../../place/links.ts";

/** The command that sends a signed sample to a source. */
export function triggerLine({ name, scheme }: { readonly name: string; readonly scheme: string }): string {
  return `posthorn trigger ${scheme}${name === scheme ? "" : ` --source ${shellWord(name)}`}`;
}
