import type { JSX } from "preact";
import type { Consumer } from "posthorn/client";
import { State } from "../../parts/state.tsx";
import { Ago } from "../../parts/time.tsx";
import { consumerHref } from "../../place/links.ts";
import { hrefOf } from "../../place/location.ts";
import { age, grouped, oneLine } from "../../words/format.ts";
import { consumerLook, typesOf, typeWords } from "./consumer-look.ts";
import { pausedByWords } from "./pause.tsx";

/** Handlers with how they stand. */
export function ConsumerTable({ consumers }: { readonly consumers: readonly Consumer[] }): JSX.Element {
  return (
    <div class="table-wrap">
      <table class="table standings">
        <thead>
          <tr>
            <th>Consumer</th>
            <th>State</th>
            <th class="hide-m">Handles</th>
            <th class="num">Waiting</th>
            <th class="num hide-s">Oldest</th>
            <th class="num hide-s">Dead</th>
            <th class="num hide-s">Worker seen</th>
          </tr>
        </thead>
        <tbody>
          {consumers.map((consumer) => (
            <ConsumerRow consumer={consumer} key={consumer.id} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function ConsumerRow({ consumer }: { readonly consumer: Consumer }): JSX.Element {
  const { id, sources, waiting, exact, oldestMs, dead, seenAt, hasWorker, state, because, pausedUntil } =
    consumer;
  const look = consumerLook(consumer);
  return (
    <tr data-row class="tall">
      <td>
        <a class="main-cell" href={consumerHref(id)} data-open>
          {oneLine(id, 40)}
        </a>
        <span class="sub">{sourceWords(sources)}</span>
      </td>
      <td>
        <State look={look} />
        {state === "paused" && (
          <span class="sub" title={because ?? ""}>
            {pausedByWords(consumer)}, {pausedUntil === null ? "until it is resumed" : "ends "}
            {pausedUntil !== null && <Ago at={pausedUntil} />}
            {because !== null && `: ${oneLine(because, 50)}`}
          </span>
        )}
      </td>
      <td class="dim hide-m">{typeWords(typesOf(consumer), 2)}</td>
      <td class="num">
        <a href={hrefOf("/lanes", { endpoint: id })}>
          {grouped(waiting)}
          {exact ? "" : "+"}
        </a>
      </td>
      <td class="num dim hide-s">{oldestMs === null || waiting === 0 ? "–" : age(oldestMs)}</td>
      <td class={`num hide-s ${dead > 0 ? "bad" : "dim"}`}>
        <a href={hrefOf("/dead", { endpoint: id })}>{grouped(dead)}</a>
      </td>
      <td class={`num nowrap hide-s ${hasWorker ? "dim" : "warn"}`}>
        {seenAt === null ? "never" : <Ago at={seenAt} />}
      </td>
    </tr>
  );
}

/** `of every source`, `of stripe, shop`. */
export function sourceWords(sources: readonly string[]): string {
  if (sources.includes("*")) return "of every source";
  return `of ${sources.map((source) => oneLine(source, 30)).join(", ")}`;
}
