import { doors } from "./every-door.mjs";

const exportsOf = Object.fromEntries(
  Object.entries(doors).map(([name, door]) => [name, Object.keys(door).length]),
);
console.log(`posthorn-consumer ${JSON.stringify(exportsOf)}`);
