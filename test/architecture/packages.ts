import type { LibraryPackage } from "./doors.js";
import { lineAt } from "./source.js";

/** A run-time dependency of the library becomes one of every host. */
export function checkDependencies(library: LibraryPackage): string[] {
  return Object.keys(library.dependencies ?? {}).map(
    (name) =>
      `library/package.json: depends on ${name}; type its client structurally and let the host hand it in.`,
  );
}

/** What a registry shows beside a package, and what turns the relative links of its README into addresses. */
export interface Origin {
  readonly homepage?: string;
  readonly bugs?: { readonly url?: string };
  readonly repository?: { readonly url?: string; readonly directory?: string };
}

const home = "https://github.com/posthorn/posthorn";

/** Whoever found the package in a registry finds its source, its pages and where to report a problem. */
export function checkOrigin(folder: string, { homepage, bugs, repository }: Origin): string[] {
  const wanted: readonly (readonly [field: string, found: string | undefined, right: string])[] = [
    ["homepage", homepage, `${home}#readme`],
    ["bugs.url", bugs?.url, `${home}/issues`],
    ["repository.url", repository?.url, `git+${home}.git`],
    ["repository.directory", repository?.directory, folder],
  ];
  return wanted
    .filter(([, found, right]) => found !== right)
    .map(([field, found, right]) => `${folder}/package.json: ${field} is ${found}; expected ${right}.`);
}

/** A lock that names a host installs from nowhere else: it fails behind every mirror. */
export function checkLock(path: string, text: string): string[] {
  return [...text.matchAll(/"resolved": *"([a-z+]+:[^"]*)"/g)].map(
    (match) =>
      `${path}:${lineAt(text, match.index)}: resolves to ${match[1]}; ` +
      "run `npm install --omit-lockfile-registry-resolved`.",
  );
}

/** Paths of the author's machine work on no other; `places` are the repository's root and the home directory. */
export function checkAbsolutePaths(
  texts: Iterable<readonly [path: string, text: string]>,
  places: readonly string[],
): string[] {
  // A place of one segment, like /src or /app in a container, is a word that honest texts use.
  const telling = places.filter((place) => place.split("/").length > 2);
  return Array.from(texts).flatMap(([path, text]) =>
    telling.flatMap((place) => {
      const escaped = place.replaceAll(/[^\w/]/g, "\\$&");
      const found = new RegExp(`(?<![\\w./-])${escaped}(?=/)`).exec(text);
      if (!found) return [];
      return [
        `${path}:${lineAt(text, found.index)}: contains ${place}; write the path relative to the repository.`,
      ];
    }),
  );
}
