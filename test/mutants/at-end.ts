// Stands for `vitest` where its harnesses run without it.
const ends: (() => unknown)[] = [];

export function afterAll(end: () => unknown): void {
  ends.push(end);
}

/** Does what the harnesses wanted done at their end. */
export async function comeToEnd(): Promise<void> {
  for (const end of ends.splice(0).toReversed()) await end();
}
