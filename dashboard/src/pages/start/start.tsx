import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Endpoint, Source } from "posthorn/client";
import { api } from "../../api/api.ts";
import { oneLine } from "../../words/format.ts";
import { useLive } from "../../api/live.ts";
import { hrefOf } from "../../place/location.ts";
import { Act, Copy } from "../../parts/act.tsx";
import { EndpointForm } from "../endpoints/endpoint-form.tsx";
import { Icon, Mark } from "../../parts/icon.tsx";
import { Page } from "../../parts/page.tsx";
import { SampleStep, WatchStep } from "./sample-steps.tsx";
import { SourceForm } from "../sources/source-form.tsx";
import { Step } from "./step.tsx";
import { providerOf } from "../sources/providers.ts";
import { addressOf } from "../sources/sources.tsx";

/** What was typed a moment ago, for the sample. It lives as long as this page. */
interface Typed {
  readonly name: string;
  readonly secret: string;
}

let typed: Typed | undefined;
let shownSecret: { readonly id: string; readonly secret: string } | undefined;

/** The walk to the first event: a source, an endpoint, a sample, and its landing. */
export function Start(): JSX.Element {
  const sources = useLive("sources", () => api.sources.list({ limit: 100 }));
  const endpoints = useLive("endpoints", () => api.endpoints.list({ limit: 100 }));
  const [eventId, setEventId] = useState<string | undefined>();
  const [skipped, setSkipped] = useState(false);
  const source = sources.data?.items.find(({ name }) => name === typed?.name) ?? sources.data?.items[0];
  const endpoint = endpoints.data?.items[0];
  const hasSource = source !== undefined || skipped;
  const step = !hasSource ? 1 : endpoint === undefined ? 2 : eventId === undefined ? 3 : 4;
  const known = sources.data !== undefined && endpoints.data !== undefined;
  return (
    <Page
      title="First event"
      cli={["posthorn source add stripe --test-secret", "posthorn endpoint add https://example.com/webhooks"]}
      aside={
        <>
          or <code>posthorn demo</code> to look around first
        </>
      }
    >
      <div class="first">
        <header class="first-head">
          <h1>Let the first event land</h1>
          <p class="lede">
            Four steps, about two minutes. Nothing leaves this machine until you send the sample.
          </p>
        </header>
        <Road source={source} endpoint={endpoint} landed={step === 4} />
        {known && (
          <ol class="steps">
            <SourceStep source={source} step={step} skipped={skipped} skip={() => setSkipped(true)} />
            <EndpointStep endpoint={endpoint} step={step} />
            <SampleStep
              source={source}
              secret={typed?.name === source?.name ? typed?.secret : undefined}
              step={step}
              onSent={setEventId}
            />
            <WatchStep
              eventId={eventId}
              tenant={source?.tenant ?? "default"}
              step={step}
              again={() => setEventId(undefined)}
            />
          </ol>
        )}
      </div>
    </Page>
  );
}

interface RoadProps {
  readonly source: Source | undefined;
  readonly endpoint: Endpoint | undefined;
  readonly landed: boolean;
}

function Road({ source, endpoint }: RoadProps): JSX.Element {
  return (
    <section class="panel road" aria-label="The road so far">
      <ol class="stations">
        <li class={source === undefined ? "todo" : "done"}>
          <span class={`stop ${source === undefined ? "" : "s-landed"}`}>
            <Icon name="source" />
          </span>
          <b>{source === undefined ? "Your source" : oneLine(source.name, 24)}</b>
          <span class="small dim">{source === undefined ? "add it below" : "source, ready"}</span>
        </li>
        <li class={source === undefined ? "todo" : "done"}>
          <span class="stop mark">
            <Mark />
          </span>
          <b>Posthorn</b>
          <span class="small dim">stores once, keeps order</span>
        </li>
        <li class={endpoint === undefined ? "todo" : "done"}>
          <span class={`stop ${endpoint === undefined ? "" : "s-landed"}`}>
            <Icon name="endpoint" />
          </span>
          <b class="cut">{endpoint === undefined ? "Your endpoint" : oneLine(endpoint.id, 20)}</b>
          <span class="small dim">{endpoint === undefined ? "add it below" : "endpoint, ready"}</span>
        </li>
      </ol>
    </section>
  );
}

interface SourceStepProps {
  readonly source: Source | undefined;
  readonly step: number;
  readonly skipped: boolean;
  readonly skip: () => void;
}

function SourceStep({ source, step, skipped, skip }: SourceStepProps): JSX.Element {
  const skipAct = (
    <Act small kind="quiet" harmless onAct={skip}>
      I publish by the API
    </Act>
  );
  return (
    <Step
      n={1}
      step={step}
      title="Add a source"
      hint="where events come from"
      done={source !== undefined || skipped}
      end={step === 1 && skipAct}
    >
      {source === undefined && !skipped && (
        <SourceForm onMade={({ name }, secret) => (typed = { name, secret })} />
      )}
      {source !== undefined && (
        <div class="done-line">
          <span class="small dim">
            {providerOf(source.scheme).where ?? "Give this address to whoever sends:"}
          </span>
          <span class="paste">
            <code>{addressOf(source)}</code>
            <Copy text={addressOf(source)} what="the address" />
          </span>
        </div>
      )}
    </Step>
  );
}

function EndpointStep({
  endpoint,
  step,
}: {
  readonly endpoint: Endpoint | undefined;
  readonly step: number;
}): JSX.Element {
  const secret = shownSecret?.id === endpoint?.id ? shownSecret?.secret : undefined;
  return (
    <Step n={2} step={step} title="Add an endpoint" hint="where events go" done={endpoint !== undefined}>
      {step === 2 && (
        <EndpointForm
          onDone={({ id, secret: made }) => {
            if (made !== undefined) shownSecret = { id, secret: made };
          }}
        />
      )}
      {endpoint !== undefined && (
        <div class="done-line">
          <span class="small dim">
            <a class="link" href={hrefOf(`/endpoints/${encodeURIComponent(endpoint.id)}`)}>
              {oneLine(endpoint.id, 40)}
            </a>{" "}
            at <code>{oneLine(endpoint.url, 100)}</code>
            {secret !== undefined && ". Its receiver checks signatures with this secret, shown this once:"}
          </span>
          {secret !== undefined && (
            <span class="paste">
              <code>{secret}</code>
              <Copy text={secret} what="the secret" />
            </span>
          )}
        </div>
      )}
    </Step>
  );
}
