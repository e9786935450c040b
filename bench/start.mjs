import { fileURLToPath } from "node:url";

// The root tsconfig leads `posthorn/*` to the source, and tsx follows it: a bench of files that tsx compiles
// in its own way, not of the package that is published. The base has no such paths.
process.env["TSX_TSCONFIG_PATH"] = fileURLToPath(new URL("../tsconfig.base.json", import.meta.url));

const { register } = await import("tsx/esm/api");
register();
await import(new URL("main.ts", import.meta.url).href);
