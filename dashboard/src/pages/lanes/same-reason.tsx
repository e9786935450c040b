import type { JSX } from "preact";
import type { Lane } from "posthorn/client";
import { api } from "../../api/api.ts";
import { useLive } from "../../api/live.ts";
import { Icon, Shape } from "../../parts/icon.tsx";
import { Panel } from "../../parts/panel.tsx";
import { hrefOf } from "../../place/location.ts";
import { count, grouped, oneLine } from "../../words/format.ts";
import { behindOf } from "./lane-drawing.tsx";

const MOST = 100;

/** Whether this lane is alone in its trouble: one mend for all of them is better than one each. */
export function SameReason({ lane }: { readonly lane: Lane }): JSX.Element | null {
  const { endpointId, id } = lane;
  const { data } = useLive(`halted lanes of ${endpointId}`, () =>
    api.lanes.list({ endpoint: endpointId, limit: MOST }),
  );
  const others = (data?.items ?? []).filter((each) => each.id !== id && each.state === "halted");
  if (others.length === 0) return null;
  const more = (data?.next ?? null) === null ? "" : "+";
  const behind = [...others, lane].reduce((sum, each) => sum + behindOf(each), 0);
  return (
    <Panel>
      <div class="same">
        <div class="notice plain s-halted">
          <Shape name="s-halted" />
          <div>
            <b>
              {grouped(others.length)}
              {more} other {others.length === 1 ? "lane" : "lanes"} of {oneLine(endpointId, 30)}{" "}
              {others.length === 1 ? "is" : "are"} halted too.
            </b>{" "}
            {count(behind, "event")} wait behind all of them.
          </div>
        </div>
        <span class="btns">
          <a class="btn sm" href={hrefOf("/lanes", { endpoint: endpointId })}>
            Look at all of them
            <Icon name="arrow" class="after" />
          </a>
          <a class="btn sm" href={hrefOf("/dead", { endpoint: endpointId })}>
            Redrive them together…
          </a>
        </span>
      </div>
    </Panel>
  );
}
