#!/usr/bin/env node
// The library's own command: it hands over to the package posthorn-server, which has the real one.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

/**
 * Where the server's program is, looked for from the given place; undefined where it is not installed.
 *
 * @param {string | URL} from
 */
function findServer(from) {
  try {
    const manifest = createRequire(from).resolve("posthorn-server/package.json");
    const { bin } = JSON.parse(readFileSync(manifest, "utf8"));
    return pathToFileURL(join(dirname(manifest), typeof bin === "string" ? bin : bin.posthorn));
  } catch {
    return undefined;
  }
}

// The project's own comes first: a server that is installed elsewhere may be of another version.
const server = findServer(pathToFileURL(join(process.cwd(), "posthorn"))) ?? findServer(import.meta.url);

if (server === undefined) {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  process.stderr.write(
    `The command \`posthorn\` is in the package posthorn-server, which is not installed here.\n` +
      `Install it: npm install posthorn-server@${version}\n`,
  );
  process.exitCode = 2;
} else {
  import(server.href).catch((/** @type {unknown} */ error) => {
    process.stderr.write(
      `${server.pathname} cannot be started: ${String(error instanceof Error ? error.stack : error)}\n`,
    );
    process.exitCode = 1;
  });
}
