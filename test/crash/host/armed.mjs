// The end of this process at a named point. Only a process with the condition `posthorn-faults` comes to any.
import { writeSync } from "node:fs";

/** @type {{ point: string, nth: number } | undefined} */
let armed;
let reached = 0;

/** @param {{ point: string, nth: number }} at */
export function arm(at) {
  armed = at;
  reached = 0;
}

/** @param {string} point */
function reach(point) {
  if (point !== armed?.point || ++reached < armed.nth) return;
  end(point);
}

/** Ends this process, and tells the parent where. */
/** @param {string} point @returns {never} */
export function end(point) {
  // Past every buffer: the parent must know why this process ended, and it cannot say so afterwards.
  writeSync(1, `killed ${point}\n`);
  process.kill(process.pid, "SIGKILL");
  // Nothing that stands after the point may run, however long the signal takes.
  for (;;);
}

export function listenForFaults() {
  Object.assign(globalThis, { [Symbol.for("posthorn.faults")]: reach });
}
