import type { JSX } from "preact";
import { ExactBody } from "../../parts/code.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Badge } from "../../parts/state.tsx";
import { byteSize, clockTime, duration, oneLine } from "../../words/format.ts";
import { now } from "../../api/live.ts";
import { attemptWords, outcomeLook } from "../../words/words.ts";
import { bytesOf } from "./attempts.ts";
import type { Tried } from "./attempts.ts";

/** One attempt: what was answered, in exact bytes, and how long it took. */
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
      </div>
    </Panel>
  );
}
