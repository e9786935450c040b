import type { ComponentChildren, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { DeadLetter, Operation, OperationFilter, OperationPlan } from "posthorn/client";
import { api, failureOf } from "../../api/api.ts";
import type { Failure } from "../../api/api.ts";
import { Act } from "../../parts/act.tsx";
import { Shape } from "../../parts/icon.tsx";
import { FailureNotice } from "../../parts/page.tsx";
import { Fact, Facts, Panel } from "../../parts/panel.tsx";
import { Ago } from "../../parts/time.tsx";
import { deliveryHref } from "../../place/links.ts";
import { confirmed, perform } from "../../shell/deeds.ts";
import { count, duration, grouped, oneLine } from "../../words/format.ts";
import { OldestFirst } from "./oldest-first.tsx";
import { watch } from "./operation.ts";

/** What is selected: groups, or letters one by one. */
export interface Chosen {
  readonly groups: readonly string[];
  readonly letters: readonly string[];
}

// Above this, a click is not enough of a decision.
const MANY = 1000;
const RATES = [5, 20, 100, 500] as const;

interface PlanProps {
  /** One for each operation: a group is one. */
  readonly filters: readonly OperationFilter[];
  readonly discard: () => void;
}

/** What would happen, before it does: the server says it, and runs what it has said or refuses. */
export function DeadPlan({ filters, discard }: PlanProps): JSX.Element {
  const [verb, setVerb] = useState<"redrive" | "skip">("redrive");
  const [plans, setPlans] = useState<readonly Operation[] | undefined>();
  const [failure, setFailure] = useState<Failure | undefined>();
  const make = async (): Promise<void> => {
    try {
      const made = filters.map((filter) => api.operations.create({ verb, filter, dryRun: true }));
      setPlans(await Promise.all(made));
      setFailure(undefined);
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  useEffect(() => void make(), [verb]);
  return (
    <Panel title="Plan" class="plan" end="Nothing has been sent yet">
      {failure !== undefined && (
        <div class="pad">
          <FailureNotice failure={failure} />
        </div>
      )}
      {plans === undefined ? (
        <div class="pad plan-body">
          <p class="say faint">Asking what it would do…</p>
        </div>
      ) : (
        <Planned
          plans={plans}
          verb={verb}
          setVerb={setVerb}
          canSkip={filters.every(({ dead }) => dead !== undefined)}
          again={make}
          discard={discard}
        />
      )}
    </Panel>
  );
}

interface PlannedProps {
  readonly plans: readonly Operation[];
  readonly verb: "redrive" | "skip";
  readonly setVerb: (verb: "redrive" | "skip") => void;
  readonly canSkip: boolean;
  readonly again: () => Promise<void>;
  readonly discard: () => void;
}

const ACTS = { redrive: "Redrive", skip: "Skip" } as const;

function Planned({ plans, verb, setVerb, canSkip, again, discard }: PlannedProps): JSX.Element {
  const [rate, setRate] = useState<number>(100);
  const [note, setNote] = useState("");
  const n = plans.reduce((sum, { plan }) => sum + plan.count, 0);
  const act = `${ACTS[verb]} ${grouped(n)}`;
  const run = async (): Promise<void> => {
    const sure =
      n < MANY ||
      (await confirmed({
        title: `${act}?`,
        body: <p>It goes on while you leave this page. You can slow it down and stop it at any time.</p>,
        act,
        danger: verb === "skip",
      }));
    if (!sure) return;
    const begun = await perform(async () => {
      for (const { id } of plans) {
        watch((await api.operations.run(id, { rate, ...(note !== "" && { note }) })).id);
      }
      return `${act}: under way.`;
    });
    if (begun) discard();
    else await again();
  };
  const because = n === 0 ? "Nothing matches." : undefined;
  return (
    <>
      <div class="pad plan-body">
        <p class="say">{saysOf(plans, verb, rate)}</p>
        <Checks plans={plans.map(({ plan }) => plan)} verb={verb} />
        <Ends plans={plans.map(({ plan }) => plan)} />
        <Wishes rate={rate} setRate={setRate} note={note} setNote={setNote} />
      </div>
      <footer class="plan-foot">
        <Act
          kind={verb === "skip" ? "danger" : "primary"}
          icon={verb === "skip" ? "skip" : "redrive"}
          because={because}
          onAct={run}
        >
          {act}
        </Act>
        {verb === "redrive" && n > 1 && <OldestFirst plans={plans} again={again} />}
        <OtherWays verb={verb} setVerb={setVerb} canSkip={canSkip} discard={discard} />
      </footer>
    </>
  );
}

/** The other verb, or nothing at all. */
function OtherWays({
  verb,
  setVerb,
  canSkip,
  discard,
}: Pick<PlannedProps, "verb" | "setVerb" | "canSkip" | "discard">): JSX.Element {
  const other = verb === "redrive" ? "skip" : "redrive";
  return (
    <span class="end">
      {canSkip && (
        <Act kind="quiet" harmless title="See what the other verb would do" onAct={() => setVerb(other)}>
          {ACTS[other]} instead…
        </Act>
      )}
      <Act kind="quiet" harmless onAct={discard}>
        Discard plan
      </Act>
    </span>
  );
}

/** The plan as one sentence; of several, added up. */
function saysOf(plans: readonly Operation[], verb: "redrive" | "skip", rate: number): string {
  const n = plans.reduce((sum, { plan }) => sum + plan.count, 0);
  const [only] = plans;
  const words =
    plans.length === 1 && only !== undefined
      ? oneLine(only.plan.words, 300)
      : `${ACTS[verb]} ${count(n, "delivery")} of ${count(
          plans.reduce((sum, { plan }) => sum + plan.lanes, 0),
          "lane",
        )}, in order.`;
  if (n <= rate) return words;
  return `${words} At most ${grouped(rate)} a second: about ${duration((n / rate) * 1000)}.`;
}

function Checks({
  plans,
  verb,
}: {
  readonly plans: readonly OperationPlan[];
  readonly verb: "redrive" | "skip";
}): JSX.Element {
  const next = plans.flatMap((plan) => plan.next);
  const first = next[0];
  const heads = next.some(({ place }) => place === "head");
  const ends = next.some(({ place }) => place === "end");
  const lines = new Map(plans.flatMap(({ warnings }) => warnings).map(({ text, code }) => [text, code]));
  return (
    <ul class="checks">
      {first !== undefined && (
        <Check tone="waiting" icon="s-waiting">
          Next goes{" "}
          <a class="mono link" href={deliveryHref(first.deliveryId)}>
            {oneLine(first.deliveryId, 40)}
          </a>{" "}
          to {oneLine(first.endpointId, 40)}
          {first.key !== null && first.key !== "" && ` · ${oneLine(first.key, 40)}`}
          {first.waiting > 0 && `, and ${count(first.waiting, "event")} behind it`}.
        </Check>
      )}
      {verb === "redrive" && heads && (
        <Check tone="landed" icon="s-landed">
          Lanes that have waited: <b>each keeps its place</b>, and what waits behind it follows.
        </Check>
      )}
      {verb === "redrive" && ends && (
        <Check tone="waiting" icon="s-waiting">
          Lanes that went on: <b>each goes to the end of its lane</b>, after newer events of its key.
        </Check>
      )}
      {[...lines].map(([text, code]) => (
        <Check
          tone={code === "lanes_go_on" ? "landed" : "retrying"}
          icon={code === "lanes_go_on" ? "s-landed" : "s-failing"}
          key={text}
        >
          {oneLine(text, 300)}
        </Check>
      ))}
    </ul>
  );
}

interface CheckProps {
  readonly tone: string;
  readonly icon: string;
  readonly children: ComponentChildren;
}

function Check({ tone, icon, children }: CheckProps): JSX.Element {
  return (
    <li class={`s-${tone}`}>
      <Shape name={icon} />
      <span>{children}</span>
    </li>
  );
}

function byDeath(letters: readonly (DeadLetter | null)[]): readonly DeadLetter[] {
  return letters
    .filter((letter) => letter !== null)
    .toSorted((left, right) => Date.parse(left.diedAt) - Date.parse(right.diedAt));
}

function Ends({ plans }: { readonly plans: readonly OperationPlan[] }): JSX.Element {
  const oldest = byDeath(plans.map((plan) => plan.oldest))[0];
  const newest = byDeath(plans.map((plan) => plan.newest)).at(-1);
  const types = [...new Set(plans.flatMap(({ sample }) => sample.map(({ type }) => oneLine(type, 30))))];
  return (
    <Facts>
      {oldest !== undefined && <Letter label="Oldest" letter={oldest} />}
      {newest !== undefined && newest.id !== oldest?.id && <Letter label="Newest" letter={newest} />}
      {types.length > 0 && <Fact label="Types">{types.slice(0, 4).join(", ")}</Fact>}
    </Facts>
  );
}

function Letter({ label, letter }: { readonly label: string; readonly letter: DeadLetter }): JSX.Element {
  return (
    <Fact label={label}>
      <a class="mono link" href={deliveryHref(letter.id)}>
        {letter.id}
      </a>{" "}
      <span class="faint">
        <Ago at={letter.diedAt} />
      </span>
    </Fact>
  );
}

interface WishesProps {
  readonly rate: number;
  readonly setRate: (rate: number) => void;
  readonly note: string;
  readonly setNote: (note: string) => void;
}

function Wishes({ rate, setRate, note, setNote }: WishesProps): JSX.Element {
  return (
    <div class="wishes">
      <label>
        <span>At most</span>
        <select
          class="input"
          value={String(rate)}
          onChange={(event) => setRate(Number(event.currentTarget.value))}
        >
          {RATES.map((each) => (
            <option value={String(each)} key={each}>
              {each} a second
            </option>
          ))}
        </select>
      </label>
      <label class="grow">
        <span>Note</span>
        <input
          class="input"
          placeholder="why, for whoever reads the history"
          maxLength={1000}
          value={note}
          onInput={(event) => setNote(event.currentTarget.value)}
        />
      </label>
    </div>
  );
}
