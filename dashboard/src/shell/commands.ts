import type { Status } from "posthorn/client";
import { paused } from "../api/live.ts";
import { copy } from "./deeds.ts";
import { consumerHref, endpointHref, laneHref, sourceHref } from "../place/links.ts";
import { hrefOf, navigate } from "../place/location.ts";
import { oneLine } from "../words/format.ts";
import { helpShown } from "./keys.ts";
import { ALL } from "./nav.ts";
import { isDark, switchTheme } from "./theme.ts";
import { leave } from "./top-bar.tsx";

/** One line of the palette. */
export interface Command {
  /** What it is listed under. */
  readonly group: "Do" | "Go to" | "Needs you" | "Endpoints" | "Sources" | "Consumers";
  readonly icon: string;
  readonly label: string;
  /** The key that does the same. */
  readonly key?: string;
  readonly run: () => void;
}

const going = (href: string) => (): void => navigate(href);

function act(label: string, icon: string, run: () => void): Command {
  return { group: "Do", label, icon, run };
}

function acts(): readonly Command[] {
  return [
    act("Add a source", "plus", going(hrefOf("/sources", { add: "1" }))),
    act("Add an endpoint", "plus", going(hrefOf("/endpoints", { add: "1" }))),
    act("Compose and send an event", "send", going(hrefOf("/compose"))),
    act("Create a token", "key", going(hrefOf("/tokens", { add: "1" }))),
    {
      ...act(paused.value ? "Resume refresh" : "Pause refresh", paused.value ? "play" : "pause", () => {
        paused.value = !paused.value;
      }),
      key: ".",
    },
    act(`Switch to the ${isDark() ? "light" : "dark"} theme`, isDark() ? "sun" : "moon", switchTheme),
    act("Copy the link to this page", "copy", () => void copy(location.href, "the link")),
    { ...act("Show all keys", "help", () => (helpShown.value = true)), key: "?" },
    act("Sign out", "arrow", leave),
  ];
}

/** All that can be done from anywhere: pages, acts, and whatever the server has by name. */
export function commandsOf(status: Status | undefined): readonly Command[] {
  const pages = ALL.map(({ path, icon, label, key }): Command => {
    return { group: "Go to", icon, label, key: `g ${key}`, run: going(hrefOf(path)) };
  });
  const halted = (status?.needs ?? []).flatMap(({ laneId, text }): readonly Command[] =>
    laneId === null
      ? []
      : [{ group: "Needs you", icon: "lanes", label: oneLine(text, 80), run: going(laneHref(laneId)) }],
  );
  const endpoints = (status?.endpoints ?? []).map(({ id }): Command => {
    return { group: "Endpoints", icon: "endpoint", label: oneLine(id, 60), run: going(endpointHref(id)) };
  });
  const sources = (status?.sources ?? []).map(({ name }): Command => {
    return { group: "Sources", icon: "source", label: oneLine(name, 60), run: going(sourceHref(name)) };
  });
  const consumers = (status?.consumers ?? []).map(({ id }): Command => {
    return { group: "Consumers", icon: "consumer", label: oneLine(id, 60), run: going(consumerHref(id)) };
  });
  return [...halted.slice(0, 5), ...pages, ...acts(), ...endpoints, ...sources, ...consumers];
}

/** Those whose letters stand in the label in this order; the ones that have them together first. */
export function matching<T extends { readonly label: string }>(
  commands: readonly T[],
  typed: string,
): readonly T[] {
  const wanted = typed.trim().toLowerCase();
  if (wanted === "") return commands;
  const scored = commands.flatMap((command) => {
    const score = scoreOf(command.label.toLowerCase(), wanted);
    return score === undefined ? [] : [{ command, score }];
  });
  return scored.toSorted((left, right) => left.score - right.score).map(({ command }) => command);
}

/** Lower is better: a word that begins so, then the text anywhere, then its letters in order. */
function scoreOf(label: string, wanted: string): number | undefined {
  const at = label.indexOf(wanted);
  if (at === 0) return 0;
  if (at > 0) return /\W/.test(label[at - 1] ?? "") ? 1 : 2;
  let from = 0;
  for (const letter of wanted) {
    const next = label.indexOf(letter, from);
    if (next === -1) return undefined;
    from = next + 1;
  }
  return 3;
}
