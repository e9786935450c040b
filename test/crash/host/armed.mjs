// The end of this process at a named point, or its standstill. Only a process with the condition `posthorn-faults` comes to any.
import { writeSync } from "node:fs";

/** @typedef {{ point: string, nth: number, stops?: boolean }} Armed */

/** @type {Armed | undefined} */
let armed;
let reached = 0;

/** @param {Armed} at */
export function arm(at) {
  armed = at;
  reached = 0;
}

/** @param {string} point */
function reach(point) {
  if (point !== armed?.point || ++reached < armed.nth) return;
  if (armed.stops === true) stop(point);
  else end(point);
}

/** Stands still here, until somebody lets this process go on. */
/** @param {string} point */
function stop(point) {
  armed = undefined;
  writeSync(1, `stopped ${point}\n`);
  process.kill(process.pid, "SIGSTOP");
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
