import { signal } from "@preact/signals";
import { hrefOf, navigate } from "../place/location.ts";
import { paused } from "../api/live.ts";
import { ALL } from "./nav.ts";

export const helpShown = signal(false);

/** The list of commands. */
export const paletteShown = signal(false);

/** Every key of the dashboard, as the help shows them. */
export const KEYS: readonly (readonly [keys: string, what: string])[] = [
  ["/", "search, or paste an id"],
  ["⌘K", "commands and pages"],
  ["j  k", "next and previous row, or next and previous event"],
  ["enter", "open the row"],
  ["x", "select the row, where rows can be selected"],
  ["r", "redrive the head of this lane"],
  ["s", "skip the head of this lane"],
  [".", "pause and resume refresh"],
  ["?", "this help"],
  ["esc", "close, or leave the field"],
  ...ALL.map(({ key, label }) => [`g ${key}`, label.toLowerCase()] as const),
];

const GO: Readonly<Record<string, string>> = Object.fromEntries(ALL.map(({ key, path }) => [key, path]));

const GO_MS = 1200;
let goUntil = 0;
const pageKeys = new Map<string, () => void>();

/** A key of the page that is shown; returns how to take it back. */
export function onKey(key: string, act: () => void): () => void {
  pageKeys.set(key, act);
  return () => {
    if (pageKeys.get(key) === act) pageKeys.delete(key);
  };
}

export function listenToKeys(): void {
  addEventListener("keydown", (event) => {
    if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      paletteShown.value = !paletteShown.value;
      return;
    }
    if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target) || isAsking()) return;
    if (!actOn(event)) return;
    event.preventDefault();
  });
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !["checkbox", "radio"].includes(target.type);
  return target.isContentEditable || /^(TEXTAREA|SELECT)$/.test(target.tagName);
}

function isAsking(): boolean {
  return document.querySelector("dialog[open]") !== null;
}

function actOn({ key }: KeyboardEvent): boolean {
  const page = performance.now() < goUntil ? GO[key] : undefined;
  goUntil = key === "g" ? performance.now() + GO_MS : 0;
  if (page !== undefined) return done(() => navigate(hrefOf(page)));
  if (key === "/") return done(() => document.querySelector<HTMLInputElement>("#search")?.select());
  if (key === "?") return done(() => (helpShown.value = true));
  if (key === ".") return done(() => (paused.value = !paused.value));
  if (key === "j" || key === "k") return didPageKey(key) || movedRow(key === "j" ? 1 : -1);
  if (key === "Enter") return openedRow();
  if (key === "x") return selectedRow();
  return didPageKey(key);
}

function done(act: () => void): true {
  act();
  return true;
}

function didPageKey(key: string): boolean {
  const act = pageKeys.get(key);
  if (act === undefined) return false;
  return done(act);
}

/** Rows are those that name themselves one: `data-row`. The one that the keyboard is at has the class `at`. */
function movedRow(step: 1 | -1): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>("[data-row]")];
  if (rows.length === 0) return false;
  const at = rows.findIndex((row) => row.classList.contains("at"));
  const next =
    rows[Math.min(rows.length - 1, Math.max(0, at === -1 ? (step === 1 ? 0 : rows.length - 1) : at + step))];
  for (const row of rows) row.classList.toggle("at", row === next);
  next?.scrollIntoView({ block: "nearest" });
  linkOf(next)?.focus({ preventScroll: true });
  return true;
}

function currentRow(): HTMLElement | undefined {
  return document.querySelector<HTMLElement>("[data-row].at") ?? undefined;
}

function linkOf(row: HTMLElement | undefined): HTMLElement | undefined {
  return row?.querySelector<HTMLElement>("a[data-open]") ?? row?.querySelector<HTMLElement>("a") ?? undefined;
}

function openedRow(): boolean {
  // A focused link or button has its own meaning of enter.
  if (document.activeElement?.matches("a, button, summary, input") === true) return false;
  const link = linkOf(currentRow());
  if (link === undefined) return false;
  return done(() => link.click());
}

function selectedRow(): boolean {
  const box = currentRow()?.querySelector<HTMLInputElement>('input[type="checkbox"]');
  if (box === null || box === undefined) return false;
  return done(() => box.click());
}
