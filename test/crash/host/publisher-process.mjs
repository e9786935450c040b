// A host application that publishes, to be killed. Started by host.ts with its options as JSON.
import { openPublisher, publishingRoutes } from "./publishing.mjs";
import { serve } from "./serve.mjs";

/** @import { HostOptions } from "./work.mjs" */

const options = /** @type {HostOptions} */ (JSON.parse(process.argv[2] ?? "{}"));
serve(publishingRoutes(await openPublisher(options)));
