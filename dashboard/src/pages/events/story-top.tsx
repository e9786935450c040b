import type { ComponentChildren, JSX } from "preact";
import type { Step, Story } from "posthorn/client";
import { Icon, Shape } from "../../parts/icon.tsx";
import { hrefOf, place } from "../../place/location.ts";
import { sourceHref } from "../../place/links.ts";
import { oneLine } from "../../words/format.ts";
import { gapOf, Point, RING } from "./point.tsx";

/** What happened to the event before it had places in lanes, and what came again: one timeline. */
export function StoryTop({ story }: { readonly story: Story }): JSX.Element {
  const steps = story.steps.filter(({ deliveryId }) => deliveryId === null);
  return (
    <div class="pad story-top">
      <ol class="timeline">
        {steps.map((step, index) => (
          <Point
            key={index}
            icon={step.future ? RING : iconOf(step)}
            future={step.future}
            what={<Words step={step} story={story} />}
            note={<Note step={step} story={story} />}
            at={step.at}
            gapMs={step.future ? undefined : gapOf(steps[index - 1]?.at, step.at)}
            last={index === steps.length - 1}
          />
        ))}
      </ol>
    </div>
  );
}

const ICONS: Readonly<Record<string, string>> = {
  received: "source",
  verified: "shield",
  published: "send",
  stored: "stored",
  duplicate: "same",
  held: "pause",
  decided: "skip",
  deed: "note",
};

function iconOf({ kind }: Step): ComponentChildren {
  if (kind === "conflict") {
    return (
      <span class="s-retrying">
        <Shape name="s-failing" />
      </span>
    );
  }
  return <Icon name={ICONS[kind] ?? "right"} />;
}

interface StepProps {
  readonly step: Step;
  readonly story: Story;
}

/** The first word of the server's sentence is what happened; it stands out. */
function Words({ step, story }: StepProps): JSX.Element {
  if (step.kind === "received") {
    return (
      <>
        <b>Received</b> from{" "}
        <a class="link" href={sourceHref(story.event.source)}>
          {oneLine(story.event.source, 40)}
        </a>
      </>
    );
  }
  const [first = "", ...rest] = oneLine(step.text, 300).split(/(?<=^\S+?)(?=[\s,.;:])/);
  return (
    <>
      <b>{first.charAt(0).toUpperCase() + first.slice(1)}</b>
      {rest.join("")}
    </>
  );
}

function Note({ step, story }: StepProps): JSX.Element | null {
  if (step.kind !== "conflict") return null;
  const index = story.repeats.findIndex(({ kind }) => kind === "conflict");
  const query = { ...Object.fromEntries(place.value.query), tab: "compare", repeat: String(index) };
  return (
    <>
      kept apart, not sent.{" "}
      <a class="link" href={hrefOf(place.value.path, query)}>
        Compare the bodies
      </a>
    </>
  );
}
