/** Where the program runs, as far as warnings depend on it. */
export type Environment = "production" | "development" | "test";

/** NODE_ENV where there is one: edge runtimes have no `process`, and Deno may forbid reading it. */
export function environmentHere(): string | undefined {
  const runtime = globalThis as {
    readonly process?: { readonly env?: Readonly<Record<string, string | undefined>> };
  };
  try {
    return runtime.process?.env?.["NODE_ENV"];
  } catch {
    // No permission to look: as good as not set.
    return undefined;
  }
}
