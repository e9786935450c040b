import type { JSX } from "preact";
import type { InboxFailure, RefusedEvent } from "posthorn/client";
import { Panel } from "../../parts/panel.tsx";
import { State } from "../../parts/state.tsx";
import { Ago, Clock } from "../../parts/time.tsx";
import { consumerHref, deliveryHref } from "../../place/links.ts";
import { byteSize, count, oneLine } from "../../words/format.ts";
import { outcomeLook } from "../../words/words.ts";
import type { Look } from "../../words/words.ts";

/** Every failure of its handlers, the newest first, with the mark by which one cause is known again. */
export function Failures({ failures }: { readonly failures: readonly InboxFailure[] }): JSX.Element {
  const causes = new Set(failures.map(({ consumerId, fingerprint }) => `${consumerId} ${fingerprint}`)).size;
  return (
    <Panel title="Failures" end={`${count(failures.length, "failure")} of ${count(causes, "cause")}`}>
      <div class="table-wrap">
        <table class="table">
          <thead>
            <tr>
              <th>Error</th>
              <th class="hide-s">Consumer</th>
              <th class="hide-s">Outcome</th>
              <th class="num">Attempt</th>
              <th class="num">When</th>
            </tr>
          </thead>
          <tbody>
            {failures.toReversed().map((failure, index) => (
              <FailureRow failure={failure} key={index} />
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

function FailureRow({ failure }: { readonly failure: InboxFailure }): JSX.Element {
  const { consumerId, deliveryId, round, attempt, at, outcome, error, fingerprint } = failure;
  const number = round > 1 ? `${attempt}, round ${round}` : String(attempt);
  return (
    <tr class="tall">
      <td class="wrap">
        <span class="main-cell wrap">{error === null ? "its worker was lost" : oneLine(error, 200)}</span>
        {fingerprint !== null && (
          <span class="sub mono wrap" title="Failures of one cause have the same">
            {oneLine(fingerprint, 160)}
          </span>
        )}
        <span class="sub only-s">{oneLine(consumerId, 40)}</span>
      </td>
      <td class="dim hide-s">
        <a href={consumerHref(consumerId)}>{oneLine(consumerId, 40)}</a>
      </td>
      <td class="hide-s">
        <State look={outcomeLook(outcome)} />
      </td>
      <td class="num dim nowrap">
        {deliveryId === null ? number : <a href={deliveryHref(deliveryId)}>{number}</a>}
      </td>
      <td class="num dim nowrap">
        <Clock at={at} />
      </td>
    </tr>
  );
}

const REFUSED: Readonly<Record<RefusedEvent["because"], string>> = {
  conflict: "The same id came with another body",
  stale: "It happened before what is remembered began",
};

/** How a refusal looks, and why it was one. */
export function refusedLook(because: RefusedEvent["because"]): Look {
  return { tone: "retrying", icon: "s-failing", word: REFUSED[because] ?? because };
}

/** What came under its id and was refused for good. */
export function RefusedHere({ refused }: { readonly refused: readonly RefusedEvent[] }): JSX.Element {
  return (
    <Panel title="Refused under this id" end="no handler saw them">
      <div class="table-wrap">
        <table class="table">
          <thead>
            <tr>
              <th>Why</th>
              <th class="hide-s">SHA-256 of the body</th>
              <th class="num hide-s">Size</th>
              <th class="num">Times</th>
              <th class="num">Last</th>
            </tr>
          </thead>
          <tbody>
            {refused.map(({ because, type, bodyHash, bodyBytes, receipts, lastRefusedAt }) => (
              <tr class="tall" key={`${because} ${bodyHash}`}>
                <td>
                  <State look={refusedLook(because)} />
                  <span class="sub">
                    {because}, {oneLine(type, 40)}
                  </span>
                </td>
                <td class="mono dim hide-s" title={bodyHash}>
                  {bodyHash.slice(0, 16)}…
                </td>
                <td class="num faint hide-s">{byteSize(bodyBytes)}</td>
                <td class="num">{receipts}</td>
                <td class="num dim nowrap">
                  <Ago at={lastRefusedAt} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}
