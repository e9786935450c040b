import { fork } from "node:child_process";
import { rmSync } from "node:fs";

/**
 * Runs a built program in a process of its own, removes it, and returns what it reported. Of a program that is patient with
 * what it runs, `patienceMs` is longer than all that patience.
 */
export function reportOf<Report>(file: string, argument: string, patienceMs = 600_000): Promise<Report> {
  return new Promise((resolve, reject) => {
    const child = fork(file, [argument], { execArgv: [], stdio: ["ignore", "ignore", "pipe", "ipc"] });
    let said = "";
    child.stderr?.on("data", (text: Buffer) => (said += text.toString()));
    const timer = setTimeout(() => child.kill("SIGKILL"), patienceMs);
    child.once("message", (report) => resolve(report as Report));
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      clearTimeout(timer);
      rmSync(file, { force: true });
      // Without effect where it has reported.
      reject(new Error(`the process ended with ${code ?? signal} and no report: ${said.slice(0, 2000)}`));
    });
  });
}
