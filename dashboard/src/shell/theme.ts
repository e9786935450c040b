import { signal } from "@preact/signals";

export type Theme = "light" | "dark";

const KEY = "posthorn-theme";

/** What a person chose; undefined follows the system. */
export const theme = signal<Theme | undefined>(kept());

function kept(): Theme | undefined {
  try {
    const value = localStorage.getItem(KEY);
    return value === "light" || value === "dark" ? value : undefined;
  } catch {
    // Storage may be switched off; then the system's theme it is.
    return undefined;
  }
}

export function isDark(): boolean {
  return theme.value === undefined
    ? matchMedia("(prefers-color-scheme: dark)").matches
    : theme.value === "dark";
}

export function applyTheme(): void {
  document.documentElement.classList.toggle("light", theme.value === "light");
  document.documentElement.classList.toggle("dark", theme.value === "dark");
}

export function switchTheme(): void {
  theme.value = isDark() ? "light" : "dark";
  applyTheme();
  try {
    localStorage.setItem(KEY, theme.value);
  } catch {
    // It holds until the page is left.
  }
}
