// npm run test:hosts: the lane `hosts` with frameworks that CI does not install, then what needs a newer Node, on the Node
// from npm.
import { installOnRequest, testOnNodeOf } from "../../../scripts/newer-node.js";
import { runCommand } from "../../../scripts/run-command.js";

const newest = "test/hosts/built/sveltekit-3";

function main(): boolean {
  if (!installOnRequest(["test/hosts/built", newest])) return false;
  const lane = runCommand(["tsx", "scripts/test.ts", "--lane", "hosts"]);
  process.stdout.write("\n── SvelteKit, on the Node from npm ──\n");
  return testOnNodeOf(newest, ["--project", "hosts", "test/hosts/built/sveltekit.test.ts"]) && lane;
}

if (!main()) process.exitCode = 1;
