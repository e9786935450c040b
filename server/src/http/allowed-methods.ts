/** Which methods each path has: the router itself says of a wrong method only that it found nothing. */
export class AllowedMethods {
  readonly #methods = new Map<string, Set<string>>();
  readonly #patterns: (readonly string[])[] = [];

  add(pattern: string, methods: string | readonly string[]): void {
    const known = this.#methods.get(pattern);
    const all = known ?? new Set<string>();
    for (const method of [methods].flat()) all.add(method);
    if (known !== undefined) return;
    this.#methods.set(pattern, all);
    this.#patterns.push(pattern.split("/"));
  }

  /** Empty where the path has none. */
  of(url: string): readonly string[] {
    const [path = ""] = url.split("?", 1);
    const steps = path.split("/");
    const methods = new Set<string>();
    for (const pattern of this.#patterns.filter((each) => matches(each, steps))) {
      for (const method of this.#methods.get(pattern.join("/")) ?? []) methods.add(method);
    }
    return [...methods].toSorted();
  }
}

function matches(pattern: readonly string[], steps: readonly string[]): boolean {
  return (
    pattern.length === steps.length &&
    pattern.every((part, index) => (part.startsWith(":") ? steps[index] !== "" : part === steps[index]))
  );
}
