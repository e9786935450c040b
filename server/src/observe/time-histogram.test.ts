import { expect, it } from "vitest";
import { TimeHistogram } from "./time-histogram.js";

function histogram(labels: readonly string[] = ["operation"]): TimeHistogram {
  return new TimeHistogram({ name: "t_seconds", help: "Time.", labels, bounds: [0.25, 0.5, 1] });
}

it("every bound counts what took up to it, itself included", () => {
  const times = histogram();
  for (const seconds of [0.125, 0.25, 0.375, 0.75, 1, 8]) times.of("claim").add(seconds);
  expect(times.text().split("\n")).toEqual([
    "# HELP t_seconds Time.",
    "# TYPE t_seconds histogram",
    't_seconds_bucket{le="0.25",operation="claim"} 2',
    't_seconds_bucket{le="0.5",operation="claim"} 3',
    't_seconds_bucket{le="1",operation="claim"} 5',
    't_seconds_bucket{le="+Inf",operation="claim"} 6',
    't_seconds_sum{operation="claim"} 10.5',
    't_seconds_count{operation="claim"} 6',
  ]);
});

it("each set of labels is a series of its own", () => {
  const times = histogram(["method", "route"]);
  times.of("POST", "/in").add(1);
  times.of("GET", "/in").add(1);
  times.of("POST", "/in").add(1);
  const counts = times
    .text()
    .split("\n")
    .filter((line) => line.startsWith("t_seconds_count"));
  expect(counts).toEqual([
    't_seconds_count{method="POST",route="/in"} 2',
    't_seconds_count{method="GET",route="/in"} 1',
  ]);
});

it("a value cannot end its quotes or its line", () => {
  const times = histogram();
  times.of('a"\\\nb').add(0);
  expect(times.text().split("\n").at(-1)).toBe(String.raw`t_seconds_count{operation="a\"\\\nb"} 1`);
});

it("without any time there are no series, and still a type", () => {
  expect(histogram().text()).toBe("# HELP t_seconds Time.\n# TYPE t_seconds histogram");
});
