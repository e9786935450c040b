import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ERROR_CODES } from "../library/src/errors.js";

// docs/errors.md is printed from the tables of codes; test/printed-pages.test.ts keeps the two equal.

/** The page that explains every code. */
export function errorsPage(codes: Readonly<Record<string, string>>): string {
  const rows = Object.entries(codes).map(([code, meaning]) => `| \`${code}\` | ${meaning} |`);
  return [
    "# Errors",
    "",
    "Posthorn throws one class, `PosthornError`. Match on its `code`; its `message` says what was found, what was",
    "expected and how to mend it, and its `detail` holds the same as data. Both are for logs and for you: they are",
    "never put into a reply, and never hold a secret or a payload.",
    "",
    "```ts",
    'import { isPosthornError, standardWebhooks, verify } from "posthorn";',
    'import type { SignedRequest } from "posthorn";',
    "",
    "const verifier = standardWebhooks({ secrets: process.env.WEBHOOK_SECRET });",
    "",
    "export async function check(request: SignedRequest): Promise<void> {",
    "  try {",
    "    await verify(verifier, request);",
    "  } catch (error) {",
    '    if (isPosthornError(error) && error.code === "timestamp_out_of_range") console.warn(error.detail.skewS);',
    "    throw error;",
    "  }",
    "}",
    "```",
    "",
    "| code | meaning |",
    "|---|---|",
    ...rows,
    "",
  ].join("\n");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(new URL("../docs/errors.md", import.meta.url), errorsPage(ERROR_CODES));
}
