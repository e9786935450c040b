// How counts and roles stand in their columns. A row that this version cannot read counts nothing: it was written by
// another version, and must not end the page of a person who looks at it.

export function countsOf(text: string): Readonly<Record<string, number>> {
  const found = parsed(text);
  if (typeof found !== "object" || found === null) return {};
  return Object.fromEntries(
    Object.entries(found).filter(
      (entry): entry is [string, number] => Number.isSafeInteger(entry[1]) && Number(entry[1]) >= 0,
    ),
  );
}

export function rolesOf(text: string): readonly string[] {
  const found = parsed(text);
  return Array.isArray(found) ? found.filter((role) => typeof role === "string") : [];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
