import type { Part } from "../prove/part.js";
import { judgeAll } from "./trials.js";

/** All of `scripts/mutants.ts`, as a part of `npm run prove:ci`. */
export const mutantsPart: Part = {
  name: "mutants",
  about: "bugs planted in the library's source, each noticed by the suite that must notice it",
  budgetS: { ci: 120, long: 120 },
  async run(bench) {
    let done = 0;
    await judgeAll(
      () => true,
      ({ where, name, passed, told }) => {
        bench.progress(`${++done} judged`);
        bench.count(`${where}: judged`, 1);
        bench.expect(`${where}: ${name}: ${told}`, passed);
      },
    );
  },
};
