// One process of a campaign: built and started by scripts/simulate.ts, which reads its report.
import { campaign } from "./campaign.js";

// Nobody reads the stack of a fault that is injected thousands of times, and each costs as much as a call.
Error.stackTraceLimit = 0;

const [from, runs, stride] = process.argv.slice(2).map(Number) as [number, number, number];
const onProgress = (done: number): void => void process.stderr.write(`${done} of ${runs}\n`);
process.send?.(await campaign({ from, runs, stride, onProgress }));
