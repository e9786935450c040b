import type { Browser, Page } from "playwright-core";
import { openBrowser } from "./browser.js";
import type { World } from "./world.js";

/** Somebody with a browser, who notices what goes wrong in it. */
export interface Visitor {
  readonly page: Page;
  /** Errors in the console, errors of scripts, and everything that the content security policy had to stop. */
  readonly faults: string[];
  /** Goes to a page of the dashboard, and waits until it shows something. */
  open(path: string): Promise<void>;
  leave(): Promise<void>;
}

const TELL_VIOLATIONS =
  'addEventListener("securitypolicyviolation", (e) => console.error("CSP stopped " + e.violatedDirective + " " + e.blockedURI));';

export async function visit({ url }: Pick<World, "url">): Promise<Visitor> {
  const browser: Browser = await openBrowser();
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    permissions: ["clipboard-write"],
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  const faults: string[] = [];
  page.setDefaultTimeout(30_000);
  await page.addInitScript(TELL_VIOLATIONS);
  page.on("console", (message) => {
    // A page that asks for something which is not there, or by a name that nothing can have, is answered so and says so;
    // the browser tells that as an error too.
    if (message.type() !== "error" || /responded with a status of 40[04]\b/.test(message.text())) return;
    faults.push(`${page.url()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`${page.url()}: ${error.message}`));
  page.on("dialog", (dialog) => {
    faults.push(`${page.url()}: a script asked ${dialog.message()}`);
    void dialog.dismiss();
  });
  return {
    page,
    faults,
    open: async (path) => {
      await page.goto(url + path);
      await page.locator("main h1, main .empty b").first().waitFor();
    },
    leave: () => browser.close(),
  };
}
