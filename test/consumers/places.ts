import { fileURLToPath } from "node:url";

/** The root of the repository. */
export const root: string = fileURLToPath(new URL("../../", import.meta.url));
/** test/consumers. */
export const laneFolder: string = fileURLToPath(new URL("./", import.meta.url));
/** The programs that consumers run, copied into the temporary project before each run. */
export const programsFolder: string = fileURLToPath(new URL("./programs/", import.meta.url));
