import type { PageOptions } from "./client.js";
import type { Page } from "./resources.js";

/**
 * Every item of a list, page after page, as far as the loop goes.
 *
 * @example
 * for await (const letter of everyItem((page) => client.dead.list(page))) await client.redrive(letter.id);
 */
export async function* everyItem<T>(
  list: (page: PageOptions) => Promise<Page<T>>,
  { limit }: { readonly limit?: number } = {},
): AsyncGenerator<T, void, undefined> {
  let after: string | undefined;
  do {
    const page = await list({ after, limit });
    yield* page.items;
    after = page.next ?? undefined;
  } while (after !== undefined);
}
