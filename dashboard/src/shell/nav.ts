import { place } from "../place/location.ts";

/** A page as the navigation, the palette and the keys offer it. */
export interface NavEntry {
  readonly path: string;
  readonly icon: string;
  readonly label: string;
  readonly short?: string;
  /** After `g`. */
  readonly key: string;
  /** Other pages that stand under it. */
  readonly also?: readonly string[];
}

export const MAIN: readonly NavEntry[] = [
  { path: "/", icon: "overview", label: "Overview", key: "o", also: ["/start"] },
  { path: "/events", icon: "events", label: "Events", key: "e", also: ["/deliveries"] },
  { path: "/lanes", icon: "lanes", label: "Lanes", key: "l" },
  { path: "/dead", icon: "dead", label: "Dead letters", short: "Dead", key: "d", also: ["/operations"] },
  { path: "/endpoints", icon: "endpoint", label: "Endpoints", key: "n" },
  { path: "/sources", icon: "source", label: "Sources", key: "s", also: ["/compose"] },
  { path: "/rejected", icon: "shield", label: "Rejected", key: "r" },
  { path: "/tail", icon: "tail", label: "Tail", key: "t" },
];

/** Of applications that handle events in their own process, on the same database. */
export const HANDLERS: readonly NavEntry[] = [
  { path: "/inbox", icon: "inbox", label: "Inbox", key: "i" },
  { path: "/consumers", icon: "consumer", label: "Consumers", key: "h" },
];

export const ADMINISTRATION: readonly NavEntry[] = [
  { path: "/audit", icon: "audit", label: "Audit", key: "a" },
  { path: "/tokens", icon: "key", label: "Tokens", key: "k" },
  { path: "/settings", icon: "settings", label: "Settings", key: "c" },
];

/** What the bar of a phone has no room for. */
export const MORE: readonly NavEntry[] = [...MAIN.slice(4), ...HANDLERS, ...ADMINISTRATION];

/** Every page that has a key. */
export const ALL: readonly NavEntry[] = [...MAIN, ...HANDLERS, ...ADMINISTRATION];

/** Whether an entry is the page that is shown, or stands above it. */
export function isCurrent({ path, also = [] }: NavEntry): boolean {
  const { path: at } = place.value;
  const under = (each: string): boolean => at === each || (each !== "/" && at.startsWith(`${each}/`));
  return [path, ...also].some((each) => under(each));
}
