import { fetchDoor } from "./fetch-door.mjs";

console.log(`posthorn-consumer ${JSON.stringify(await fetchDoor())}`);
