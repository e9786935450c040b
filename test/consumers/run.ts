// npm run test:consumers [-- --only <text>]: tries the packed library as consumers will, on every runtime and compiler.
import type { Tally } from "../tally.js";
import { endWith, failureOf } from "../tally.js";
import type { Case } from "./case.js";
import { compilerCases } from "./cases/compilers.js";
import { runCases, sqliteCases } from "./cases/runs.js";
import { tarballCases } from "./cases/tarball.js";
import { webBundleCases } from "./cases/web-bundle.js";
import { workerdCases } from "./cases/workerd.js";
import type { Consumer } from "./consumer.js";
import { createConsumer } from "./consumer.js";
import { installRuntimes } from "./install.js";
import { readVersions } from "./runtimes.js";
import type { Result } from "./table.js";
import { MARKS, printTable } from "./table.js";
import { readVectors } from "./vectors.js";

const cases: readonly Case[] = [
  ...tarballCases,
  ...webBundleCases,
  ...compilerCases,
  ...runCases,
  ...sqliteCases,
  ...workerdCases,
];

async function main(): Promise<void> {
  const chosen = chooseCases(process.argv.slice(2));
  await installRuntimes();
  const versions = await readVersions();
  const consumer = await createConsumer(await readVectors());
  const results: Result[] = [];
  try {
    let topic = "";
    for (const test of chosen) {
      if (test.topic !== topic) process.stdout.write(`\n${test.topic}\n`);
      topic = test.topic;
      const result = await runCase(test, consumer);
      process.stdout.write(printResult(result));
      results.push(result);
    }
  } finally {
    await consumer.remove();
  }
  process.stdout.write(printTable(results, versions));
  endWith(tallyOf(results));
}

/** `--only bun` keeps the cases of that topic; a text that is no topic, those whose topic or name contains it. */
function chooseCases(args: readonly string[]): readonly Case[] {
  const [flag, text, ...rest] = args;
  if (flag === undefined) return cases;
  if (flag !== "--only" || text === undefined || rest.length > 0) {
    throw new Error(`Unknown arguments: ${args.join(" ")}. There is --only <text>.`);
  }
  const wanted = text.toLowerCase();
  // "bun" is a runtime, and also the beginning of "bundler".
  const exact = cases.filter(({ topic }) => topic === wanted);
  if (exact.length > 0) return exact;
  const chosen = cases.filter(({ topic, name }) => `${topic} ${name}`.toLowerCase().includes(wanted));
  if (chosen.length > 0) return chosen;
  throw new Error(`--only ${text}: there are ${[...new Set(cases.map(({ topic }) => topic))].join(", ")}.`);
}

async function runCase(test: Case, consumer: Consumer): Promise<Result> {
  if (test.skip !== undefined) return { test, verdict: "skipped", note: test.skip };
  try {
    return { test, verdict: "passed", note: (await test.run(consumer)) ?? "" };
  } catch (error) {
    return { test, verdict: "failed", note: error instanceof Error ? error.message : String(error) };
  }
}

function printResult({ test, verdict, note }: Result): string {
  const told =
    verdict === "failed" ? `\n${note.replaceAll(/^/gm, "      ")}` : note === "" ? "" : ` (${note})`;
  return `  ${MARKS[verdict]} ${test.name}${told}\n`;
}

function tallyOf(results: readonly Result[]): Tally {
  const of = (verdict: Result["verdict"]): { test: string; note: string }[] =>
    results
      .filter((result) => result.verdict === verdict)
      .map(({ test, note }) => ({ test: `${test.topic} > ${test.name}`, note }));
  return {
    passed: of("passed").length,
    failures: of("failed").map(({ test, note }) => ({ test, error: note })),
    skips: of("skipped").map(({ test, note }) => ({ test, reason: note })),
  };
}

// Interrupted, the lane must still stop what it started; each child is stopped by a handler of "exit".
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

await main().catch((error: unknown) => {
  // Broken before its first case, it must not end without a total.
  endWith(failureOf("consumers", error instanceof Error ? error.message : String(error)));
});
