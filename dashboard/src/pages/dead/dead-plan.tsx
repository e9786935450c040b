import type { JSX } from "preact";
import type { DeadLetter } from "posthorn/client";
import { api } from "../../api/api.ts";
import { planOf } from "./dead-groups.ts";
import { confirmed } from "../../shell/deeds.ts";
import { count, oneLine } from "../../words/format.ts";
import { deliveryHref } from "../../place/links.ts";
import { now } from "../../api/live.ts";
import { operation, runOperation } from "./operation.ts";
import { Act } from "../../parts/act.tsx";
import { Shape } from "../../parts/icon.tsx";
import { Fact, Facts, Panel } from "../../parts/panel.tsx";
import { Ago } from "../../parts/time.tsx";

// Above this, a click is not enough of a decision.
const MANY = 20;

interface PlanProps {
  readonly letters: readonly DeadLetter[];
  readonly discard: () => void;
}

/** What would happen, before it does. */
export function DeadPlan({ letters, discard }: PlanProps): JSX.Element {
  const plan = planOf(letters, now.value);
  const n = plan.letters.length;
  const where =
    plan.endpoints.length === 1
      ? oneLine(plan.endpoints[0] ?? "", 40)
      : count(plan.endpoints.length, "endpoint");
  const title = `Redrive ${count(n, "delivery")}`;
  const run = async (): Promise<void> => {
    const sure =
      n < MANY ||
      (await confirmed({
        title: `${title} to ${where}?`,
        body: (
          <p>
            They are sent one after the other, oldest first. You can stop at any time; what was made due stays
            so.
          </p>
        ),
        act: title,
      }));
    if (!sure) return;
    const ids = plan.letters.map(({ id }) => id);
    discard();
    void runOperation(title, ids, (id) => api.redrive(id));
  };
  const oldest = plan.letters.at(0);
  const newest = plan.letters.at(-1);
  const busy = operation.value?.state === "running" ? "Another operation is under way." : undefined;
  return (
    <Panel title="Plan" class="plan" end="Nothing has been sent yet">
      <div class="pad plan-body">
        <p class="say">
          {title} to {where}, oldest first.
        </p>
        <Checks inPlace={plan.inPlace} atEnd={plan.atEnd} old={plan.old} />
        <Facts>
          {oldest !== undefined && <Letter label="Oldest" letter={oldest} />}
          {newest !== undefined && n > 1 && <Letter label="Newest" letter={newest} />}
        </Facts>
      </div>
      <footer class="plan-foot">
        <Act kind="primary" icon="redrive" because={busy} onAct={run}>
          Redrive {n}
        </Act>
        <span class="end">
          <Act kind="quiet" harmless onAct={discard}>
            Discard plan
          </Act>
        </span>
      </footer>
    </Panel>
  );
}

function Letter({ label, letter }: { readonly label: string; readonly letter: DeadLetter }): JSX.Element {
  return (
    <Fact label={label}>
      <a class="mono link" href={deliveryHref(letter.id)}>
        {letter.id}
      </a>
      <span class="faint">
        <Ago at={letter.diedAt} />
      </span>
    </Fact>
  );
}

interface ChecksProps {
  readonly inPlace: number;
  readonly atEnd: number;
  readonly old: number;
}

function Checks({ inPlace, atEnd, old }: ChecksProps): JSX.Element {
  return (
    <ul class="checks">
      {inPlace > 0 && (
        <li class="s-landed">
          <Shape name="s-landed" />
          <span>
            {inPlace === 1 ? "The lane of one has" : `The lanes of ${inPlace} have`} waited:{" "}
            <b>they keep their places</b>, and what waits behind them follows.
          </span>
        </li>
      )}
      {atEnd > 0 && (
        <li class="s-waiting">
          <Shape name="s-waiting" />
          <span>
            {atEnd === 1 ? "The lane of one" : `The lanes of ${atEnd}`} went on without{" "}
            {atEnd === 1 ? "it" : "them"}: to <b>the end of the lane</b>, after newer events of the key.
          </span>
        </li>
      )}
      {old > 0 && (
        <li class="s-retrying">
          <Shape name="s-failing" />
          <span>
            <b>{old === 1 ? "One died" : `${old} died`} more than a day ago.</b> A receiver that has forgotten
            the id may apply it twice.
          </span>
        </li>
      )}
    </ul>
  );
}
