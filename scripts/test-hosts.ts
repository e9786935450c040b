// npm run test:hosts [-- --all]: the adapters on the real frameworks. CI runs the lane `hosts`; `--all` adds `more-hosts`,
// whose frameworks are large, or want a newer Node than the oldest that we support.
import { runCommand } from "./run-command.js";

const lanes = process.argv.includes("--all") ? ["hosts", "more-hosts"] : ["hosts"];
const passed = lanes.map((lane) => runCommand(["tsx", "scripts/test.ts", "--lane", lane]));
process.exitCode = passed.every(Boolean) ? 0 : 1;
