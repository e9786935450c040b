import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Source, Story } from "posthorn/client";
import { api, failureOf } from "../../api/api.ts";
import type { Failure } from "../../api/api.ts";
import { duration, oneLine } from "../../words/format.ts";
import { eventHref } from "../../place/links.ts";
import { useLive } from "../../api/live.ts";
import { hrefOf } from "../../place/location.ts";
import { providerOf } from "../sources/providers.ts";
import { sendSample, wayOf } from "./send-sample.ts";
import { answerWords, deliveryLook } from "../../words/words.ts";
import { Act } from "../../parts/act.tsx";
import { Shape } from "../../parts/icon.tsx";
import { FailureNotice } from "../../parts/page.tsx";
import { State } from "../../parts/state.tsx";
import { Step } from "./step.tsx";

interface SampleProps {
  readonly source: Source | undefined;
  readonly secret: string | undefined;
  readonly step: number;
  readonly onSent: (eventId: string) => void;
}

export function SampleStep({ source, secret, step, onSent }: SampleProps): JSX.Element {
  const [failure, setFailure] = useState<Failure | undefined>();
  const signed = wayOf(source, secret) === "signed";
  const hint =
    signed && source !== undefined
      ? `signed as ${providerOf(source.scheme).title} would sign it`
      : "published through the API";
  const send = async (): Promise<void> => {
    try {
      onSent(await sendSample(source, secret));
      setFailure(undefined);
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  return (
    <Step n={3} step={step} title="Send a sample" hint={hint} done={step > 3}>
      {step === 3 && (
        <div class="form">
          {failure !== undefined && <FailureNotice failure={failure} />}
          <p class="small dim">
            {signed
              ? "This page signs an event with the secret that you have just typed, and posts it to the address above, as the provider will."
              : "The event takes the same way as every other: it is stored, placed in its lane, signed and sent."}
          </p>
          <div class="btns">
            <Act kind="primary" icon="send" onAct={send}>
              Send the sample
            </Act>
          </div>
        </div>
      )}
    </Step>
  );
}

interface WatchProps {
  readonly eventId: string | undefined;
  readonly tenant: string;
  readonly step: number;
  readonly again: () => void;
}

export function WatchStep({ eventId, tenant, step, again }: WatchProps): JSX.Element {
  return (
    <Step n={4} step={step} title="Watch it land" hint="live, on this page" done={false}>
      {eventId === undefined ? (
        <ol class="ghost">
          {["received", "verified", "stored", "landed"].map((word) => (
            <li key={word}>
              <i />
              {word}
            </li>
          ))}
        </ol>
      ) : (
        <Landing eventId={eventId} tenant={tenant} again={again} />
      )}
    </Step>
  );
}

function Landing({
  eventId,
  tenant,
  again,
}: {
  readonly eventId: string;
  readonly tenant: string;
  readonly again: () => void;
}): JSX.Element {
  const story = useLive(`story ${tenant} ${eventId}`, () => api.story(eventId, { tenant }));
  const [delivery] = story.data?.deliveries ?? [];
  const landed = delivery?.state === "delivered";
  return (
    <div class="form">
      <ol class="ghost lit">
        {["received", "stored"].map((word) => (
          <li class="s-landed" key={word}>
            <Shape name="s-landed" />
            {word}
          </li>
        ))}
        <li class={landed ? "s-landed" : ""}>
          {landed ? <Shape name="s-landed" /> : <i />}
          landed
        </li>
      </ol>
      {story.data !== undefined && <LandingWords story={story.data} />}
      <div class="btns">
        <a class="btn primary" href={eventHref(eventId, tenant)}>
          Read its story
        </a>
        <a class="btn" href={hrefOf("/")}>
          Go to the overview
        </a>
        <Act kind="quiet" harmless onAct={again}>
          Send another
        </Act>
      </div>
    </div>
  );
}

function LandingWords({ story }: { readonly story: Story }): JSX.Element {
  const [delivery] = story.deliveries;
  if (delivery === undefined) {
    return <p class="small dim">It is stored. No endpoint takes it, or its place is not given yet.</p>;
  }
  const last = delivery.tried.at(-1);
  const words =
    delivery.state === "delivered"
      ? `${oneLine(delivery.endpointId, 30)} acknowledged it${last === undefined ? "" : ` in ${duration(last.durationMs)}`}`
      : delivery.attempts === 0
        ? deliveryLook(delivery.state).word
        : `${answerWords(delivery.lastStatus, delivery.lastError)}; it is tried again by itself`;
  return (
    <p>
      <State look={deliveryLook(delivery.state)}>{words}</State>
    </p>
  );
}
