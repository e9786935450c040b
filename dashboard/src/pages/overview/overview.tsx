import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { Series, Status } from "posthorn/client";
import { api } from "../../api/api.ts";
import { useLive } from "../../api/live.ts";
import { courseEveryMs, currentWindow, perStep, zoomTo } from "../../api/ranges.ts";
import type { Window } from "../../api/ranges.ts";
import { useDay, useStatus } from "../../api/status.ts";
import { Chart } from "../../parts/chart/chart.tsx";
import { RangePick } from "../../parts/chart/range-pick.tsx";
import { Spark } from "../../parts/chart/spark.tsx";
import { Icon, Shape } from "../../parts/icon.tsx";
import { FailureNotice, Page } from "../../parts/page.tsx";
import { Panel } from "../../parts/panel.tsx";
import { hrefOf, navigate } from "../../place/location.ts";
import { count } from "../../words/format.ts";
import { ConsumerTable } from "../consumers/consumer-table.tsx";
import { EndpointTable } from "../endpoints/endpoint-table.tsx";
import { SourceTable } from "../sources/source-table.tsx";
import { figuresOf } from "./figures.ts";
import { NeedsYou } from "./needs-you.tsx";
import { verdictOf } from "./verdict.ts";
import type { Verdict } from "./verdict.ts";

const SHOWN = 8;

/** One sentence, what waits for a person, and how all of it goes. */
export function Overview(): JSX.Element | null {
  const window = currentWindow("1h");
  const status = useStatus();
  const { since = "", until = "" } = window.query;
  const series = useLive(`series ${since} ${until} ${window.stepS}`, () => api.series(window.query), {
    everyMs: courseEveryMs(window),
  });
  const day = useDay();
  const nothing = status.data !== undefined && isEmpty(status.data);
  useEffect(() => {
    if (nothing) navigate(hrefOf("/start"), { replace: true });
  }, [nothing]);
  if (nothing) return null;
  const failure = status.failure ?? series.failure;
  return (
    <Page
      title="Overview"
      get={["/status", `/series?since=${since}`]}
      cli={["posthorn status", "posthorn tail"]}
      aside={`Figures of the ${window.words}`}
    >
      {failure !== undefined && <FailureNotice failure={failure} />}
      {status.data === undefined ? <VoiceSpace /> : <Voice verdict={verdictOf(status.data)} />}
      <Figures series={series.data} status={status.data} window={window} />
      <div class="cols-2-1">
        <Rates series={series.data} window={window} />
        <NeedsYou status={status.data} />
      </div>
      {status.data !== undefined && <Standings status={status.data} day={day.data} />}
    </Page>
  );
}

/** Whether nothing was set up yet: an application with handlers alone has neither endpoints nor sources here. */
function isEmpty({ endpoints, sources, consumers }: Status): boolean {
  return endpoints.length + sources.length + consumers.length === 0;
}

function VoiceSpace(): JSX.Element {
  return <section class="voice" aria-hidden="true" />;
}

function Voice({ verdict }: { readonly verdict: Verdict }): JSX.Element {
  const { tone, icon, title, more, act } = verdict;
  return (
    <section class={`voice s-${tone}`} aria-live="polite">
      <Shape name={icon} />
      <div class="voice-text">
        <h1>{act === undefined ? title : <a href={act.href}>{title}</a>}</h1>
        <p class="sub">{more}</p>
      </div>
      {act !== undefined && (
        <a class="btn primary" href={act.href}>
          {act.label}
          <Icon name="arrow" class="after" />
        </a>
      )}
    </section>
  );
}

interface FiguresProps {
  readonly series: Series | undefined;
  readonly status: Status | undefined;
  readonly window: Window;
}

const LABELS = ["In", "Out", "Landed", "Lag, p99", "Dead"];

function Figures({ series, status, window }: FiguresProps): JSX.Element {
  const known =
    series === undefined ? [] : figuresOf(series, `in the ${window.words}`, status?.counts.dead ?? 0);
  const hrefs = [hrefOf("/events"), hrefOf("/events"), hrefOf("/events"), hrefOf("/lanes"), hrefOf("/dead")];
  return (
    <section class="stats" aria-label={`Figures of the ${window.words}`}>
      {LABELS.map((label, index) => {
        const { value = "–", unit = "", more = "", values = [], tone, bars = false } = known[index] ?? {};
        return (
          <a class="stat" href={hrefs[index]} key={label}>
            <span class="label">{label}</span>
            <span class="figure">
              {value} <small>{unit}</small>
            </span>
            <span class="delta">{more}</span>
            <Spark values={values} label={`Course of ${label}`} tone={tone} bars={bars} />
          </a>
        );
      })}
    </section>
  );
}

function Rates({ series, window }: Pick<FiguresProps, "series" | "window">): JSX.Element {
  const words = `Deliveries ${perStep(window.stepS)}`;
  return (
    <Panel title={words} class="fill" end={<RangePick window={window} legend />}>
      <div class="pad">
        {series === undefined ? (
          <div class="chart-space" />
        ) : (
          <Chart
            label={words}
            times={series.times.map((at) => Date.parse(at))}
            stepMs={series.stepS * 1000}
            up={{ word: "landed", icon: "s-landed", tone: "landed", values: series.total.delivered }}
            down={{ word: "failed", icon: "s-attempt", tone: "halted", values: series.total.failed }}
            onZoom={zoomTo}
          />
        )}
      </div>
    </Panel>
  );
}

interface StandingsProps {
  readonly status: Status;
  readonly day: Series | undefined;
}

function Standings({ status, day }: StandingsProps): JSX.Element {
  const { endpoints, sources, consumers } = status;
  return (
    <>
      <Panel title="Endpoints" end={<AllOf path="/endpoints" n={endpoints.length} noun="endpoint" />}>
        {endpoints.length > 0 && <EndpointTable endpoints={endpoints.slice(0, SHOWN)} day={day} />}
      </Panel>
      <Panel title="Sources" end={<AllOf path="/sources" n={sources.length} noun="source" />}>
        {sources.length > 0 && <SourceTable sources={sources.slice(0, SHOWN)} day={day} />}
      </Panel>
      {consumers.length > 0 && (
        <Panel title="Consumers" end={<AllOf path="/consumers" n={consumers.length} noun="consumer" />}>
          <ConsumerTable consumers={consumers.slice(0, SHOWN)} />
        </Panel>
      )}
    </>
  );
}

interface AllOfProps {
  readonly path: string;
  readonly n: number;
  readonly noun: string;
}

function AllOf({ path, n, noun }: AllOfProps): JSX.Element {
  return (
    <a class="link" href={hrefOf(path)}>
      {n === 0 ? "Add one" : `All ${count(n, noun)}`}
    </a>
  );
}
