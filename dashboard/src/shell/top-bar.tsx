import type { JSX } from "preact";
import { session, signOut } from "../api/api.ts";
import { answeredAt, forgetAll, now, paused, REFRESH_MS } from "../api/live.ts";
import { Icon, Mark } from "../parts/icon.tsx";
import { hrefOf } from "../place/location.ts";
import { duration } from "../words/format.ts";
import { perform } from "./deeds.ts";
import { helpShown, paletteShown } from "./keys.ts";
import { SearchField } from "./search-field.tsx";
import { isDark, switchTheme, theme } from "./theme.ts";

export function TopBar(): JSX.Element {
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
        <TopButton icon="command" label="Commands ( ⌘K )" onAct={() => (paletteShown.value = true)} />
        <TopButton icon={dark ? "sun" : "moon"} label={other} onAct={switchTheme} />
        <TopButton icon="help" label="Keys ( ? )" onAct={() => (helpShown.value = true)} />
        <Account />
      </div>
    </header>
  );
}

interface TopButtonProps {
  readonly icon: string;
  readonly label: string;
  readonly onAct: () => void;
}

function TopButton({ icon, label, onAct }: TopButtonProps): JSX.Element {
  return (
    <button class="btn icon quiet wide-only" type="button" title={label} aria-label={label} onClick={onAct}>
      <Icon name={icon} />
    </button>
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

export function leave(): void {
  void perform(async () => {
    await signOut();
    forgetAll();
    return "Signed out.";
  });
}

function Account(): JSX.Element {
  const { name, scope } = session.value ?? {};
  const label = `Signed in with the token ${name}`;
  return (
    <details class="menu">
      <summary class="avatar" aria-label={label} title={label}>
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
