import { api } from "./api.ts";
import { confirmed, perform } from "./deeds.ts";
import { runOperation } from "./operation.ts";
import { count } from "./format.ts";

const RESULTS = {
  in_place: "is due again at the head of its lane, which had waited for it",
  at_end: "is due again at the end of its lane, which had gone on without it",
} as const;

/** Asks, and makes dead deliveries due again, in the order in which they are given. */
export async function redrive(ids: readonly string[], act: string): Promise<boolean> {
  const [only] = ids;
  const yes = await confirmed({
    title: `${act}?`,
    body: (
      <p>
        {ids.length === 1
          ? "It is sent again, with all of its attempts. If its lane has waited for it, it keeps its place, and the others follow once it has landed."
          : `${count(ids.length, "delivery")} are sent again, oldest first. Those whose lanes have waited for them keep their places; the others go to the end of their lanes.`}
      </p>
    ),
    act,
  });
  if (!yes) return false;
  if (ids.length === 1 && only !== undefined) {
    return perform(async () => `${only} ${RESULTS[(await api.redrive(only)).result]}.`);
  }
  void runOperation(`Redrive ${count(ids.length, "delivery")}`, ids, (id) => api.redrive(id));
  return true;
}
