import { render } from "preact";
import { App } from "./app.tsx";
import { listenToKeys } from "./keys.ts";
import { startClock } from "./live.ts";
import { followLinks } from "./location.ts";
import { applyTheme } from "./theme.ts";

applyTheme();
followLinks();
listenToKeys();
startClock();

const root = document.querySelector("#posthorn");
if (root !== null) render(<App />, root);
