import { api } from "../../api/api.ts";
import { confirmed, perform } from "../../shell/deeds.ts";

const RESULTS = {
  in_place: "is due again at the head of its lane, which had waited for it",
  at_end: "is due again at the end of its lane, which had gone on without it",
} as const;

/** Asks, and makes one dead delivery due again. */
export async function redriveOne(id: string, name: string): Promise<boolean> {
  const yes = await confirmed({
    title: `Redrive ${name}?`,
    body: (
      <p>
        It is tried again, with all of its attempts. If its lane has waited for it, it keeps its place, and
        the others follow once it has landed.
      </p>
    ),
    act: `Redrive ${name}`,
  });
  if (!yes) return false;
  return perform(async () => `${id} ${RESULTS[(await api.redrive(id)).result]}.`);
}
