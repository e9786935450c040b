import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { DeadLetter, Operation, StoryDelivery } from "posthorn/client";
import { api } from "../../api/api.ts";
import { Act } from "../../parts/act.tsx";
import { Badge } from "../../parts/state.tsx";
import { perform } from "../../shell/deeds.ts";
import { duration, oneLine } from "../../words/format.ts";
import { answerWords, deliveryLook } from "../../words/words.ts";

const LOOK_MS = 400;
const PATIENCE_MS = 20_000;

/** Waits for an attempt of the new round. A lane that went on gives the event another place, which is another delivery. */
async function outcomeOf({ id, endpointId, round }: DeadLetter): Promise<StoryDelivery | undefined> {
  const until = Date.now() + PATIENCE_MS;
  while (Date.now() < until) {
    const { deliveries } = await api.story(id);
    const own = deliveries.find(
      (each) => each.endpointId === endpointId && each.tried.some((attempt) => attempt.round > round),
    );
    if (own !== undefined) return own;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return undefined;
}

interface OldestFirstProps {
  readonly plans: readonly Operation[];
  readonly again: () => Promise<void>;
}

/** Tries one before all: whether the endpoint is well again is seen for the price of one. */
export function OldestFirst({ plans, again }: OldestFirstProps): JSX.Element | null {
  const [came, setCame] = useState<StoryDelivery | "late" | undefined>();
  const oldest = plans
    .flatMap(({ plan }) => plan.oldest ?? [])
    .toSorted((left, right) => Date.parse(left.diedAt) - Date.parse(right.diedAt))[0];
  if (oldest === undefined) return null;
  const send = async (): Promise<void> => {
    await perform(async () => {
      await api.redrive(oldest.id);
      const found = await outcomeOf(oldest);
      setCame(found ?? "late");
      await again();
      return found === undefined
        ? `${oldest.id} is due again; nothing came of it yet.`
        : `${oldest.id}: ${words(found)}`;
    });
  };
  return (
    <>
      <Act icon="send" onAct={send}>
        Send the oldest one first
      </Act>
      {came !== undefined && came !== "late" && (
        <Badge look={deliveryLook(came.state === "delivered" ? "delivered" : "retrying")}>
          {words(came)}
        </Badge>
      )}
    </>
  );
}

function words({ tried }: StoryDelivery): string {
  const last = tried.at(-1);
  if (last === undefined) return "due again";
  const landed = last.outcome === "acknowledged";
  return oneLine(
    `${landed ? "landed" : "failed"}: ${answerWords(last.status, last.error)} in ${duration(last.durationMs)}`,
    80,
  );
}
