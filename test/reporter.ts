import { writeFileSync } from "node:fs";
import type { Reporter, TestCase, TestModule, TestSuite, Vitest } from "vitest/node";
import { reasonOf } from "./skip-reason.js";
import type { Failure, Skip, Tally } from "./tally.js";
import { printTally, tallyFileVariable } from "./tally.js";

/**
 * Stands beside vitest's own reporter: the total as the last line, skips with their reasons, and a failed run where
 * a test was skipped without one. Under scripts/test.ts it hands the tally over instead of printing it.
 */
export default class TallyReporter implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    if (this.#vitest?.config.watch === true) return;
    // Under `-t` every other test is skipped by vitest itself, without a reason; those are no skips of ours.
    const filtered = this.#vitest?.config.testNamePattern !== undefined;
    const tally = tallyOf(modules, unhandledErrors, filtered);
    // Vitest knows nothing of our rule about reasons, and would leave with 0.
    if (tally.failures.length > 0) process.exitCode = 1;
    const file = process.env[tallyFileVariable];
    if (file !== undefined) writeFileSync(file, JSON.stringify(tally));
    // Vitest may still print while it closes; at exit nothing comes after.
    else process.once("exit", () => process.stdout.write(printTally(tally)));
  }
}

/** Counts what failed outside of tests too: a file that does not load has no test to fail. */
function tallyOf(
  modules: readonly TestModule[],
  unhandledErrors: readonly unknown[],
  filtered: boolean,
): Tally {
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const groups = modules.flatMap((module) => [module, ...module.children.allSuites()]);
  const silent = filtered ? [] : tests.filter(isSilentlySkipped);
  return {
    passed: tests.filter((test) => test.result().state === "passed").length,
    skips: tests.flatMap((test) => skipOf(test)),
    failures: [
      ...tests.filter(isFailed).map((test) => failure(nameOf(test), test.result().errors)),
      ...groups.filter(isBroken).map((group) => failure(nameOfGroup(group), group.errors())),
      ...silent.map((test) => ({ test: nameOf(test), error: whySilent(test) })),
      ...unhandledErrors.map((error) => failure("outside of any test", [error])),
    ],
  };
}

function isFailed(test: TestCase): boolean {
  return ["failed", "pending"].includes(test.result().state);
}

function isBroken(group: TestSuite | TestModule): boolean {
  return group.errors().length > 0;
}

/** Of several errors the first: the others most often follow from it. */
function failure(test: string, errors: readonly unknown[] | undefined): Failure {
  const [first] = errors ?? [];
  const { message } = (first ?? {}) as Partial<Error>;
  return { test, error: message ?? "did not come to its end" };
}

function skipOf(test: TestCase): Skip[] {
  const reason = reasonOf(test);
  return reason === undefined ? [] : [{ test: nameOf(test), reason }];
}

function isSilentlySkipped(test: TestCase): boolean {
  return test.result().state === "skipped" && reasonOf(test) === undefined;
}

function whySilent(test: TestCase): string {
  if (hasFailedGroup(test.parent)) return "did not run, because a hook of its suite failed.";
  return "skipped without a reason; use skipFor() of test/skip-reason.ts, or remove the `only` beside it.";
}

function hasFailedGroup(group: TestSuite | TestModule): boolean {
  if (isBroken(group)) return true;
  return group.type === "suite" && hasFailedGroup(group.parent);
}

function nameOf(test: TestCase): string {
  return `${test.module.relativeModuleId} > ${test.fullName}`;
}

function nameOfGroup(group: TestSuite | TestModule): string {
  return group.type === "module"
    ? group.relativeModuleId
    : `${group.module.relativeModuleId} > ${group.fullName}`;
}
