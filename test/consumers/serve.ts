import { spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { killGroup } from "./child.js";

// A cold start takes a second; beyond this it will not come.
const START_TIMEOUT_MS = 20_000;

/** Starts workerd on a port that the system chose, gives its address to `use`, and stops it whatever happens. */
export async function withWorkerd<Result>(
  { binary, config, cwd }: { readonly binary: string; readonly config: string; readonly cwd: string },
  use: (address: string) => Promise<Result>,
): Promise<Result> {
  // Port 0 with the control channel on descriptor 3: asking for a free port beforehand could lose it to another process.
  const child = spawn(binary, ["serve", config, "--socket-addr=http=127.0.0.1:0", "--control-fd=3"], {
    cwd,
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  const stop = (): void => killGroup(child.pid);
  process.once("exit", stop);
  try {
    const [, stdout, stderr, control] = child.stdio as unknown as Readable[];
    let said = "";
    for (const stream of [stdout, stderr]) stream?.on("data", (text: Buffer) => (said += text.toString()));
    const port = await listeningPort(control, () => said);
    return await use(`http://127.0.0.1:${port}`);
  } finally {
    process.off("exit", stop);
    stop();
  }
}

function listeningPort(control: Readable | undefined, said: () => string): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => {
      clearTimeout(timer);
      reject(new Error(`workerd ${why}.\n${said()}`));
    };
    const timer = setTimeout(() => fail(`did not listen within ${START_TIMEOUT_MS} ms`), START_TIMEOUT_MS);
    let text = "";
    control?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      const port = /"event":"listen".*?"port":(\d+)/.exec(text)?.[1];
      if (port === undefined) return;
      clearTimeout(timer);
      resolve(Number(port));
    });
    control?.once("end", () => fail("ended before it listened"));
  });
}
