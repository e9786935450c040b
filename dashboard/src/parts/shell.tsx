import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { session, signOut } from "../api.ts";
import { perform } from "../deeds.ts";
import { duration } from "../format.ts";
import { answeredAt, forgetAll, now, paused, REFRESH_MS } from "../live.ts";
import { hrefOf, navigate, place } from "../location.ts";
import { parseSearch } from "../search.ts";
import { isDark, switchTheme, theme } from "../theme.ts";
import { trouble } from "../trouble.ts";
import { Icon, Mark, Shape } from "./icon.tsx";

interface NavEntry {
  readonly path: string;
  readonly icon: string;
  readonly label: string;
  readonly short?: string;
}

const MAIN: readonly NavEntry[] = [
  { path: "/", icon: "overview", label: "Overview" },
  { path: "/events", icon: "events", label: "Events" },
  { path: "/lanes", icon: "lanes", label: "Lanes" },
  { path: "/dead", icon: "dead", label: "Dead letters", short: "Dead" },
  { path: "/endpoints", icon: "endpoint", label: "Endpoints" },
  { path: "/sources", icon: "source", label: "Sources" },
  { path: "/rejected", icon: "shield", label: "Rejected" },
];
export const ADMINISTRATION: readonly NavEntry[] = [{ path: "/tokens", icon: "key", label: "Tokens" }];
/** What the bar of a phone has no room for. */
export const MORE: readonly NavEntry[] = [...MAIN.slice(4), ...ADMINISTRATION];

/** The frame of every page. */
export function Shell({ children }: { readonly children: ComponentChildren }): JSX.Element {
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
            <Nav label="Administration" entries={ADMINISTRATION} />
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

function isCurrent(path: string): boolean {
  const { path: at } = place.value;
  return path === "/" ? at === "/" || at === "/start" : at === path || at.startsWith(`${path}/`);
}

function Nav({
  label,
  entries,
}: {
  readonly label: string;
  readonly entries: readonly NavEntry[];
}): JSX.Element {
  return (
    <nav class="nav" aria-label={label}>
      {entries.map(({ path, icon, label: word }) => (
        <a
          href={hrefOf(path)}
          key={path}
          title={word}
          {...(isCurrent(path) && { "aria-current": "page" as const })}
        >
          <Icon name={icon} />
          <span class="w">{word}</span>
          <NavCount path={path} />
        </a>
      ))}
    </nav>
  );
}

/** What waits for a person, beside the page where it can be mended. */
function NavCount({ path }: { readonly path: string }): JSX.Element | null {
  const { halted, dead } = trouble.value;
  const [tone, text, words] =
    path === "/lanes" ? (["halted", halted, "halted"] as const) : (["dead", dead, "dead"] as const);
  if ((path !== "/lanes" && path !== "/dead") || text === "") return null;
  return (
    <span class={`count s-${tone}`}>
      <Shape name={`s-${tone}`} />
      <span class="n">{text}</span>
      <span class="sr"> {words}</span>
    </span>
  );
}

function TopBar(): JSX.Element {
  const dark = theme.value === undefined ? isDark() : theme.value === "dark";
  const other = `Switch to the ${dark ? "light" : "dark"} theme`;
  return (
    <header class="topbar">
      <a class="brand" href={hrefOf("/")}>
        <Mark />
        <span class="sr">Posthorn</span>
      </a>
      <SearchField />
      <div class="right">
        <LiveSwitch />
        <button
          class="btn icon quiet theme"
          type="button"
          title={other}
          aria-label={other}
          onClick={switchTheme}
        >
          <Icon name={dark ? "sun" : "moon"} />
        </button>
        <Account />
      </div>
    </header>
  );
}

function SearchField(): JSX.Element {
  const [problem, setProblem] = useState<string | undefined>();
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const input = (event.currentTarget as HTMLFormElement).querySelector("input");
    const found = parseSearch(input?.value ?? "");
    if (found.kind === "unknown") return setProblem(found.message);
    setProblem(undefined);
    if (input !== null) {
      input.value = "";
      input.blur();
    }
    navigate(hrefOf(found.path, found.query));
  };
  return (
    <form class="search" role="search" onSubmit={submit}>
      <Icon name="search" />
      <label class="sr" for="search">
        Search
      </label>
      <input
        id="search"
        type="search"
        autoComplete="off"
        spellcheck={false}
        placeholder="Search, or paste an id, a header or a curl command"
        aria-describedby="search-problem"
        onInput={() => setProblem(undefined)}
        onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
      />
      <kbd>/</kbd>
      <span class="search-problem" id="search-problem" role="status" hidden={problem === undefined}>
        {problem}
      </span>
    </form>
  );
}

/** Whether the page refreshes itself, and how old it is where it does not. */
function LiveSwitch(): JSX.Element {
  const oldMs = Math.max(0, now.value - answeredAt.value);
  const late = !paused.value && oldMs > 5 * REFRESH_MS;
  const words = paused.value
    ? `Paused, ${duration(oldMs)} old`
    : late
      ? `No answer for ${duration(oldMs)}`
      : `Live, every ${REFRESH_MS / 1000} s`;
  const label = paused.value ? "Resume refresh" : "Pause refresh";
  return (
    <div class="live">
      <span>
        <i class={`pulse ${paused.value ? "off" : late ? "late" : ""}`} />
        <span class="w">{words}</span>
      </span>
      <button
        type="button"
        title={`${label} ( . )`}
        aria-label={label}
        aria-pressed={paused.value}
        onClick={() => (paused.value = !paused.value)}
      >
        <Icon name={paused.value ? "play" : "pause"} class="sm" />
      </button>
    </div>
  );
}

function leave(): void {
  void perform(async () => {
    await signOut();
    forgetAll();
    return "Signed out.";
  });
}

function Account(): JSX.Element {
  const { name, scope } = session.value ?? {};
  return (
    <details class="menu">
      <summary
        class="avatar"
        aria-label={`Signed in with the token ${name}`}
        title={`Signed in with the token ${name}`}
      >
        {(name ?? "?").slice(0, 1)}
      </summary>
      <div class="menu-body">
        <p class="cut">
          <b>{name}</b>
        </p>
        <p class="small faint">
          {scope === "read" ? "a token that may only read" : "a token of the scope full"}
        </p>
        <button class="btn sm" type="button" onClick={leave}>
          Sign out
        </button>
      </div>
    </details>
  );
}

function TabBar(): JSX.Element {
  const { halted, dead } = trouble.value;
  const inMore = MORE.some(({ path }) => isCurrent(path)) || place.value.path === "/more";
  return (
    <nav class="tabbar" aria-label="Main, short">
      {MAIN.slice(0, 4).map(({ path, icon, label, short }) => (
        <a href={hrefOf(path)} key={path} {...(isCurrent(path) && { "aria-current": "page" as const })}>
          <Icon name={icon} />
          {short ?? label}
          {path === "/lanes" && halted !== "" && <i class="dot s-halted" />}
          {path === "/dead" && dead !== "" && <i class="dot s-dead" />}
        </a>
      ))}
      <a href={hrefOf("/more")} {...(inMore && { "aria-current": "page" as const })}>
        <Icon name="more" />
        More
      </a>
    </nav>
  );
}
