import { readFileSync } from "node:fs";
import type { Difference, Subject } from "./subject.js";

/** docs/differences.md: where an official library judges otherwise, and why we do not follow it. */
export function differencesPage(subjects: readonly Subject[]): string {
  return [
    "# Where official libraries judge otherwise",
    "",
    "Each scheme is compared with the provider's own library on 10,000 generated requests (on 2,000 where public keys",
    "make it slow): rightly signed ones, and ones whose body, headers, secret, time or encoding were changed before or",
    "after signing. The verdicts agree, except for what this page lists; anything else fails the test.",
    "`http-message-signatures` is no provider's: it stands for RFC 9421, which several senders follow.",
    "`npx vitest run --project official differences -u` prints it anew from `test/official/subjects/`.",
    "",
    "None of these differences lets a forged request pass here. Where a library *accepts* what Posthorn refuses, it",
    "does so for requests that its provider does not send, or it accepts bytes that were never signed.",
    "",
    ...subjects.flatMap(section),
  ].join("\n");
}

function section({ library, verifier, differences }: Subject): readonly string[] {
  return [
    `## ${library} ${versionOf(library)}`,
    "",
    `\`${verifier}\``,
    "",
    ...(differences.length === 0 ? ["It judges as we do."] : tableOf(differences)),
    "",
  ];
}

function tableOf(differences: readonly Difference[]): readonly string[] {
  return ["| the library | how | why we do not |", "|---|---|---|", ...differences.map(row)];
}

function row({ name, what, why }: Difference): string {
  return `| ${[name, what, why].map((text) => text.replaceAll("|", "\\|")).join(" | ")} |`;
}

function versionOf(library: string): string {
  const manifest = new URL(`node_modules/${library}/package.json`, import.meta.url);
  return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
}
