import type { Rows } from "./rows.js";
import type { ModelRules } from "./rules.js";

/** What the functions of the model store work on. */
export interface Model {
  rows: Rows;
  readonly rules: ModelRules;
  /** Both times of the store's clock. */
  readonly clock: { now(): number; monotonic(): number };
}
