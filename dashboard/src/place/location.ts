import { signal } from "@preact/signals";
import { basePath } from "./base-path.ts";

/** Where the page is. The URL is the state: whatever a person could send to another is in it. */
export interface Place {
  /** Without the base, as `/lanes/12`. */
  readonly path: string;
  readonly query: URLSearchParams;
}

export type Query = Readonly<Record<string, string | undefined>>;

export const place = signal<Place>(readPlace());

function readPlace(): Place {
  // Unit tests have no browser around them.
  const { pathname, search } = typeof location === "undefined" ? { pathname: "/", search: "" } : location;
  const path = pathname.startsWith(`${basePath}/`) ? pathname.slice(basePath.length) : pathname;
  return { path: path === "" ? "/" : path, query: new URLSearchParams(search) };
}

/** The address of a page, for `href`. */
export function hrefOf(path: string, query: Query = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [[name, value]],
  );
  const search = given.length === 0 ? "" : `?${new URLSearchParams(given).toString()}`;
  return `${basePath}${path}${search}`;
}

/** Goes to a page; `replace` while something is typed, so that back leads to the last decision. */
export function navigate(href: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, "", href);
  else history.pushState(null, "", href);
  const before = place.value.path;
  place.value = readPlace();
  if (replace || before === place.value.path) return;
  scrollTo(0, 0);
  // For whoever listens instead of looking: the new page is where reading goes on.
  requestAnimationFrame(() =>
    document.querySelector<HTMLElement>("#content")?.focus({ preventScroll: true }),
  );
}

/** Changes parts of the query on the page that is shown; undefined takes one away. */
export function setQuery(change: Query, { replace = false } = {}): void {
  const next = { ...Object.fromEntries(place.value.query), ...change };
  navigate(hrefOf(place.value.path, next), { replace });
}

/** Follows links of this page without loading it anew, and the browser's back and forward. */
export function followLinks(): void {
  addEventListener("popstate", () => (place.value = readPlace()));
  addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (link === null || event.defaultPrevented || !isPlainClick(event) || !isOwnPage(link)) return;
    event.preventDefault();
    navigate(link.pathname + link.search);
  });
}

function isPlainClick({ button, metaKey, ctrlKey, shiftKey, altKey }: MouseEvent): boolean {
  return button === 0 && !metaKey && !ctrlKey && !shiftKey && !altKey;
}

function isOwnPage(link: HTMLAnchorElement): boolean {
  if (link.target !== "" || link.hasAttribute("download") || link.origin !== location.origin) return false;
  if (link.hash !== "" && link.pathname === location.pathname) return false;
  return link.pathname === basePath || link.pathname.startsWith(`${basePath}/`);
}

/** The parts of a path that fit a pattern such as `/lanes/:id`; undefined where it is another. */
export function match(pattern: string, path: string): Readonly<Record<string, string>> | undefined {
  const names = pattern.split("/");
  const steps = path.replace(/(?<=.)\/$/, "").split("/");
  if (names.length !== steps.length) return undefined;
  const found: Record<string, string> = {};
  for (const [index, name] of names.entries()) {
    const step = steps[index] ?? "";
    if (name.startsWith(":") && step !== "") found[name.slice(1)] = decoded(step);
    else if (name !== step) return undefined;
  }
  return found;
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
