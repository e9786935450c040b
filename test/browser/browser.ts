import { execFileSync } from "node:child_process";
import { chromium } from "playwright-core";
import type { Browser } from "playwright-core";

/** Where the system's browser is; undefined where there is none. */
export function chromiumPath(): string | undefined {
  for (const name of ["chromium", "chromium-browser", "google-chrome"]) {
    try {
      return execFileSync("which", [name], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
    } catch {
      // The next one may be there.
    }
  }
  return undefined;
}

/** Why the tests of the dashboard are skipped; false where they can run. */
export const noBrowser: string | false =
  chromiumPath() === undefined &&
  "no chromium on the PATH: apt-get install -y --no-install-recommends chromium";

export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: chromiumPath() ?? "",
    // Containers run as root and have little shared memory.
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
  });
}
