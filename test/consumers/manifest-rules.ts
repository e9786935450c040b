import type { Conditions, Manifest } from "./packed.js";

/** The rules of package.json that resolvers read differently when they are broken; one text per violation. */
export function checkManifest(manifest: Manifest, files: readonly string[]): string[] {
  const held = new Set(files.map((path) => `./${path}`));
  return [
    ...checkFields(manifest),
    ...Object.entries(manifest.exports).flatMap(([name, target]) => checkExport(name, target, held)),
    ...Object.entries(manifest.imports ?? {}).flatMap(([name, target]) => checkImport(name, target, held)),
  ];
}

function checkFields(manifest: Manifest): string[] {
  const wanted: Readonly<Record<string, (value: unknown) => boolean>> = {
    // Without it Node would parse .js as CommonJS.
    type: (value) => value === "module",
    // Without it bundlers keep modules of which nothing is used.
    sideEffects: (value) => value === false,
    license: (value) => typeof value === "string",
    description: (value) => typeof value === "string",
    engines: (value) => /\bnode\b.*20\.19/.test(JSON.stringify(value ?? "")),
    private: (value) => value === undefined,
  };
  // Old tools prefer these to "exports", and would find another entry than new ones.
  const forbidden = ["main", "module", "browser", "types", "typings", "typesVersions"];
  return [
    ...Object.entries(wanted)
      .filter(([field, isRight]) => !isRight(manifest[field]))
      .map(([field]) => `package.json: "${field}" is ${JSON.stringify(manifest[field])}.`),
    ...forbidden
      .filter((field) => field in manifest)
      .map((field) => `package.json: "${field}" stands beside "exports", and may disagree with it.`),
  ];
}

function checkExport(name: string, target: Conditions, held: ReadonlySet<string>): string[] {
  if (name.includes("*")) return [`exports: "${name}" is a wildcard.`];
  const problems = [
    ...checkTargets(`exports["${name}"]`, target, held),
    ...checkOrder(`exports["${name}"]`, target),
  ];
  if (name === "./package.json") return problems;
  return [...problems, ...checkTypes(`exports["${name}"]`, target)];
}

function checkImport(name: string, target: Conditions, held: ReadonlySet<string>): string[] {
  return [...checkTargets(`imports["${name}"]`, target, held), ...checkOrder(`imports["${name}"]`, target)];
}

function checkTargets(where: string, target: Conditions, held: ReadonlySet<string>): string[] {
  if (target === null) return [];
  if (typeof target === "string") {
    return held.has(target) ? [] : [`${where}: ${target} is not in the tarball.`];
  }
  return Object.values(target).flatMap((inner) => checkTargets(where, inner, held));
}

// Conditions are tried in the order in which they stand, so one behind "default" is never reached.
function checkOrder(where: string, target: Conditions): string[] {
  if (target === null || typeof target === "string") return [];
  const names = Object.keys(target);
  const typesAt = names.indexOf("types");
  return [
    ...(names.at(-1) === "default" ? [] : [`${where}: "default" must be there, and last.`]),
    ...(typesAt > 0 ? [`${where}: "types" must come first, or TypeScript finds a .js before it.`] : []),
    ...Object.values(target).flatMap((inner) => checkOrder(where, inner)),
  ];
}

function checkTypes(where: string, target: Conditions): string[] {
  if (target === null || typeof target === "string") return [`${where}: a door needs "types" and "default".`];
  const { types, default: code } = target;
  const agree =
    typeof types === "string" && typeof code === "string" && types === code.replace(/\.js$/, ".d.ts");
  return agree ? [] : [`${where}: "types" and "default" must be the two halves of one module.`];
}
