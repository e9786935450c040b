// npm run test:newest-orms: the promises of the lane `orms` on the newest versions of ORMs that need a newer Node than the
// tests, on the Node from npm.
import { installOnRequest, testOnNodeOf } from "../../../scripts/newer-node.js";

const passed =
  installOnRequest(["test/orms", "test/orms/newest"]) &&
  testOnNodeOf("test/orms/newest", ["--project", "newest-orms"]);
if (!passed) process.exitCode = 1;
