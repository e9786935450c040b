import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { TestSend } from "posthorn/client";
import { api, failureOf } from "../../api/api.ts";
import type { Failure } from "../../api/api.ts";
import { count, duration, oneLine } from "../../words/format.ts";
import { answerWords, outcomeLook } from "../../words/words.ts";
import { Act } from "../../parts/act.tsx";
import { answerText } from "../events/attempts.ts";
import { Shape } from "../../parts/icon.tsx";
import { FailureNotice } from "../../parts/page.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Badge } from "../../parts/state.tsx";

/** Sends a signed event that is stored nowhere, and shows what came of it. */
export function EndpointTest({ id, halted }: { readonly id: string; readonly halted: number }): JSX.Element {
  const [result, setResult] = useState<TestSend | undefined>();
  const [failure, setFailure] = useState<Failure | undefined>();
  const send = async (): Promise<void> => {
    try {
      setResult(await api.endpoints.test(id));
      setFailure(undefined);
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  const badge = result !== undefined && (
    <Badge look={outcomeLook(result.outcome)}>
      {answerWords(result.status, result.error)} in {duration(result.durationMs)}
    </Badge>
  );
  return (
    <Panel
      title="Test"
      badge={badge}
      end={
        <Act small icon="send" onAct={send}>
          Send a test
        </Act>
      }
    >
      <div class="pad test">
        {failure !== undefined && <FailureNotice failure={failure} />}
        {result === undefined ? (
          <p class="dim small">
            A signed event of the type posthorn.test. It is stored nowhere and takes no place in a lane.
          </p>
        ) : (
          <Transcript result={result} />
        )}
        {halted > 0 && (
          <div class="notice s-waiting">
            <Shape name="s-waiting" />
            <span>
              Even when a test lands, {count(halted, "halted lane")} {halted === 1 ? "waits" : "wait"} until
              you redrive or skip {halted === 1 ? "its head" : "their heads"}.
            </span>
          </div>
        )}
      </div>
    </Panel>
  );
}

function Transcript({ result }: { readonly result: TestSend }): JSX.Element {
  const { eventId, status, error, detail, answer } = result;
  return (
    <pre class="code" tabIndex={0} aria-label="Transcript">
      <span class="ln" data-n="→">
        <span>
          <span class="k">POST</span> <span class="p">webhook-id: {oneLine(eventId)}</span>
        </span>
      </span>
      <span class="ln" data-n="←">
        <span>
          <span class="n">{answerWords(status, error)}</span> {oneLine(answerText(answer), 300)}
        </span>
      </span>
      {detail !== null && (
        <span class="ln" data-n="">
          <span class="p">{oneLine(detail, 400)}</span>
        </span>
      )}
    </pre>
  );
}
