import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

const TICKS_PER_SECOND = Number(spawnSync("getconf", ["CLK_TCK"], { encoding: "utf8" }).stdout) || 100;

/** The time that a process has had a core for, all its threads together, in ms. A busy neighbour does not add to it. */
export function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name in brackets may hold anything.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
}

/** What the requests of all turns have cost a process. */
export class CpuBill {
  #cpuMs = 0;
  #requests = 0;

  add(cpuMs: number, requests: number): void {
    this.#cpuMs += cpuMs;
    this.#requests += requests;
  }

  /** Once the process is warm: in the first second after its start a request costs five times as much. */
  clear(): void {
    this.#cpuMs = 0;
    this.#requests = 0;
  }

  /** NaN before the first turn. */
  get microsecondsPerRequest(): number {
    return (this.#cpuMs * 1000) / this.#requests;
  }
}
