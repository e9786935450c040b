import type { ComponentChildren, JSX } from "preact";
import { status, useStatus } from "../api/status.ts";
import { Icon, Mark, Shape } from "../parts/icon.tsx";
import { hrefOf, place } from "../place/location.ts";
import { count } from "../words/format.ts";
import { ADMINISTRATION, HANDLERS, isCurrent, MAIN, MORE } from "./nav.ts";
import type { NavEntry } from "./nav.ts";
import { TopBar } from "./top-bar.tsx";

/** The frame of every page. */
export function Shell({ children }: { readonly children: ComponentChildren }): JSX.Element {
  useStatus();
  return (
    <>
      <a class="skip-link" href="#content">
        Go to the content
      </a>
      <div class="app">
        <aside class="side">
          <div>
            <a class="brand" href={hrefOf("/")}>
              <Mark />
              <span class="w">Posthorn</span>
            </a>
            <Nav label="Main" entries={MAIN} />
            <Nav label="Handlers" entries={HANDLERS} />
            <Nav label="Administration" entries={ADMINISTRATION} />
            <SideFoot />
          </div>
        </aside>
        <div class="main">
          <TopBar />
          {children}
        </div>
      </div>
      <TabBar />
    </>
  );
}

interface NavProps {
  readonly label: string;
  readonly entries: readonly NavEntry[];
}

const here = { "aria-current": "page" } as const;

function Nav({ label, entries }: NavProps): JSX.Element {
  return (
    <nav class="nav" aria-label={label}>
      {entries.map((entry) => (
        <a href={hrefOf(entry.path)} key={entry.path} title={entry.label} {...(isCurrent(entry) && here)}>
          <Icon name={entry.icon} />
          <span class="w">{entry.label}</span>
          <NavCount path={entry.path} />
        </a>
      ))}
    </nav>
  );
}

/** How many wait for a person on a page; zero for pages that count nothing. */
function waitingAt(path: string): number {
  const counts = status.value?.counts;
  if (path === "/lanes") return counts?.haltedLanes ?? 0;
  return path === "/dead" ? (counts?.dead ?? 0) : 0;
}

/** What waits for a person, beside the page where it can be mended. */
function NavCount({ path }: { readonly path: string }): JSX.Element | null {
  const n = waitingAt(path);
  if (n === 0) return null;
  const tone = path === "/lanes" ? "halted" : "dead";
  return (
    <span class={`count s-${tone}`}>
      <Shape name={`s-${tone}`} />
      <span class="n">{n > 9999 ? "9,999+" : n}</span>
      <span class="sr"> {tone}</span>
    </span>
  );
}

/** How many nodes answer, and their version. */
function SideFoot(): JSX.Element | null {
  const known = status.value;
  if (known === undefined) return null;
  return (
    <a class="side-foot s-landed" href={hrefOf("/settings")} title="Nodes and settings">
      <Shape name="s-active" />
      <span class="w">
        {count(known.nodes.length, "node")} · v{known.version}
      </span>
    </a>
  );
}

function TabBar(): JSX.Element {
  const inMore = MORE.some((entry) => isCurrent(entry)) || place.value.path === "/more";
  return (
    <nav class="tabbar" aria-label="Main, short">
      {MAIN.slice(0, 4).map((entry) => (
        <a href={hrefOf(entry.path)} key={entry.path} {...(isCurrent(entry) && here)}>
          <Icon name={entry.icon} />
          {entry.short ?? entry.label}
          {waitingAt(entry.path) > 0 && (
            <i class={`dot ${entry.path === "/lanes" ? "s-halted" : "s-dead"}`} />
          )}
        </a>
      ))}
      <a href={hrefOf("/more")} {...(inMore && here)}>
        <Icon name="more" />
        More
      </a>
    </nav>
  );
}
