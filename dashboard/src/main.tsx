import { render } from "preact";
import { App } from "./app.tsx";
import { listenToKeys } from "./shell/keys.ts";
import { closeMenus } from "./shell/menus.ts";
import { startClock } from "./api/live.ts";
import { followLinks } from "./place/location.ts";
import { applyTheme } from "./shell/theme.ts";

applyTheme();
followLinks();
listenToKeys();
closeMenus();
startClock();

const root = document.querySelector("#posthorn");
if (root !== null) render(<App />, root);
