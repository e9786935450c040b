// npm run fuzz -- [--executions 1000000] [--seed 1] [--scheme stripe]: throws damaged requests at every scheme.
import { parseArgs } from "node:util";
import { fuzz } from "../test/fuzz/campaign.js";
import type { Report } from "../test/fuzz/campaign.js";
import { findSuperlinear } from "../test/fuzz/linearity.js";
import { readCorpora } from "../test/fuzz/seeds.js";

function main(): void {
  const { values } = parseArgs({
    options: {
      executions: { type: "string", default: "1000000" },
      seed: { type: "string", default: "1" },
      scheme: { type: "string" },
    },
  });
  const executions = Number(values.executions);
  const seed = Number(values.seed);
  const schemes = new Map(
    [...readCorpora()].filter(([name]) => values.scheme === undefined || name === values.scheme),
  );
  const startedAt = performance.now();
  const onProgress = (done: number): void => void process.stderr.write(`${done} of ${executions}\n`);
  const report = fuzz({ executions, seed, onProgress }, schemes);
  const seconds = (performance.now() - startedAt) / 1000;
  print(report);
  const superlinear = [...schemes.values()].flatMap(({ seeds }) => {
    const accepted = seeds.find(({ verified }) => verified !== undefined);
    return accepted === undefined ? [] : findSuperlinear(accepted);
  });
  for (const found of superlinear) console.log(`time grows faster than the input: ${found}`);
  const rate = Math.round(executions / seconds);
  const total = report.failures.length + superlinear.length;
  console.log(
    `${executions} executions, seed ${seed}, ${seconds.toFixed(1)} s, ${rate} a second, ${total} failures`,
  );
  process.exitCode = total === 0 ? 0 : 1;
}

function print({ verdicts, failures }: Report): void {
  for (const [scheme, counts] of verdicts) {
    const list = [...counts]
      .toSorted(([, one], [, two]) => two - one)
      .map(([verdict, count]) => `${verdict} ${count}`);
    console.log(`${scheme}: ${list.join(", ")}`);
  }
  for (const { scheme, number, why, request } of failures)
    console.log(`FAILED ${scheme} ${number}: ${why}\n  ${request}`);
}

main();
