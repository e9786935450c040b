import type { JSX } from "preact";
import { useStatus } from "../../api/status.ts";
import { hrefOf, place } from "../../place/location.ts";
import { grouped } from "../../words/format.ts";

/** The lists of the inbox: what was handled, what waits for others of its key, and what was refused. */
export function InboxTabs(): JSX.Element {
  // A server of another version may not count them.
  const { held = 0 } = useStatus().data?.counts ?? {};
  const { path } = place.value;
  const current = (of: string): { "aria-current"?: "page" } =>
    path === of ? { "aria-current": "page" } : {};
  return (
    <nav class="tabs" aria-label="Of the inbox">
      <a href={hrefOf("/inbox")} {...current("/inbox")}>
        Handled
      </a>
      <a href={hrefOf("/inbox/held")} {...current("/inbox/held")}>
        Held {held > 0 && <span class="n s-paused">{grouped(held)}</span>}
      </a>
      <a href={hrefOf("/inbox/refused")} {...current("/inbox/refused")}>
        Refused
      </a>
    </nav>
  );
}
