// Started by Node, Bun and Deno. The lane looks for the line that begins like this.
import { report } from "./report.mjs";

console.log(`posthorn-consumer ${JSON.stringify(await report())}`);
