import type { JSX } from "preact";
import type { AttemptSent } from "posthorn/client";
import { ExactBody, HeaderTable } from "../../parts/code.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Badge } from "../../parts/state.tsx";
import { byteSize, clockTime, duration, oneLine } from "../../words/format.ts";
import { now } from "../../api/live.ts";
import { attemptWords, outcomeLook } from "../../words/words.ts";
import { bytesOf } from "./attempts.ts";
import type { Tried } from "./attempts.ts";

/** One attempt: what was answered, in exact bytes, where it was sent, and how long it took. */
export function AttemptPanel({ tried }: { readonly tried: Tried }): JSX.Element {
  const { delivery, attempt } = tried;
  const bytes = bytesOf(attempt.answer);
  const round = attempt.round === 1 ? "" : `, round ${attempt.round}`;
  return (
    <Panel
      title={`Attempt ${attempt.number} to ${oneLine(delivery.endpointId, 30)}${round}`}
      badge={<Badge look={outcomeLook(attempt.outcome)}>{attemptWords(attempt)}</Badge>}
      end={clockTime(Date.parse(attempt.startedAt), now.value)}
    >
      <div class="pad attempt">
        <span class="label">
          {bytes.length === 0
            ? "The answer had no body"
            : `The answer, ${byteSize(bytes.length)}${bytes.length === 16_384 ? " of it kept" : ""}`}
          , after {duration(attempt.durationMs)}
        </span>
        {bytes.length > 0 && <ExactBody bytes={bytes} label="The answer" />}
        {attempt.sent !== null && <Sent sent={attempt.sent} />}
      </div>
    </Panel>
  );
}

/** The steps of an attempt, in their order; a connection that stood already has no first three. */
const STEPS = [
  ["dnsMs", "name"],
  ["connectMs", "connection"],
  ["tlsMs", "TLS"],
  ["firstByteMs", "first byte after"],
] as const;

/** Where it went: the address that was reached, how long each step took, and the headers that are kept. */
function Sent({ sent }: { readonly sent: AttemptSent }): JSX.Element {
  const { url, address, headers, timings } = sent;
  const steps = STEPS.flatMap(([name, word]) => {
    const ms = timings[name];
    return ms === undefined ? [] : [`${word} ${duration(ms)}`];
  });
  return (
    <>
      <span class="label">
        Sent to <span class="mono wrap">{oneLine(url, 300)}</span>
        {address === null ? ", no connection stood" : `, at ${oneLine(address, 60)}`}
        {steps.length > 0 && ` (${steps.join(", ")})`}
      </span>
      {headers !== null && <HeaderTable headers={headers} />}
    </>
  );
}
