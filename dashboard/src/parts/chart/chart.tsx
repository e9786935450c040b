import type { ComponentType, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { RateChartProps } from "./rate-chart.tsx";

let loaded: ComponentType<RateChartProps> | undefined;

async function load(): Promise<"loaded" | "failed"> {
  try {
    ({ RateChart: loaded } = await import("./rate-chart.tsx"));
    return "loaded";
  } catch {
    // A server that was upgraded meanwhile has the file under another name.
    return "failed";
  }
}

/** A chart, whose code comes when the first page with one is opened. Its place is kept until then: nothing jumps. */
export function Chart(props: RateChartProps): JSX.Element {
  const [state, setState] = useState<"loading" | "loaded" | "failed">("loading");
  useEffect(() => {
    if (loaded === undefined) void load().then(setState);
  }, []);
  const Drawn = loaded;
  if (Drawn !== undefined) return <Drawn {...props} />;
  return (
    <div class="chart-space">
      {state === "failed" && "The chart could not be loaded. Load this page again to see it."}
    </div>
  );
}
