// Where figures and times stand on a chart. Pure: a chart draws what this says.

const STEPS = [1, 2, 2.5, 5, 10];

/** The least round number that is not below a value: 0 → 1, 37 → 40, 1,160 → 1,500. */
export function roundUp(value: number): number {
  if (value <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  for (const step of [1, 1.5, 2, 3, 4, 5, 6, 8, 10]) if (step * power >= value) return step * power;
  return 10 * power;
}

/** Round figures from zero to at most `most`, about `wanted` of them. */
export function ticks(most: number, wanted: number): readonly number[] {
  const raw = most / wanted;
  const power = 10 ** Math.floor(Math.log10(Math.max(raw, 1)));
  const step = (STEPS.find((each) => each * power >= raw) ?? 10) * power;
  // Counts have no halves.
  const whole = Math.max(1, Math.round(step));
  return Array.from({ length: Math.floor(most / whole) + 1 }, (_, index) => index * whole);
}

const pad = (value: number): string => String(value).padStart(2, "0");

/** `08:20`; with the day where a step is a day, or where the chart spans some. */
export function timeLabel(ms: number, spanMs: number): string {
  const at = new Date(ms);
  const clock = `${pad(at.getHours())}:${pad(at.getMinutes())}`;
  if (spanMs <= 26 * 3_600_000) return clock;
  const day = at.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
  return spanMs <= 4 * 86_400_000 ? `${day} ${clock}` : day;
}

/** Which steps get a label: about `wanted`, evenly, the first included. */
export function labelled(length: number, wanted: number): readonly number[] {
  if (length === 0) return [];
  const every = Math.max(1, Math.ceil(length / wanted));
  return Array.from({ length: Math.ceil(length / every) }, (_, index) => index * every);
}

/** The points of a line over the whole width, and the area under it. Steps of which nothing is known are drawn at zero. */
export function linePath(
  values: readonly (number | null)[],
  { width, height }: { readonly width: number; readonly height: number },
): { readonly line: string; readonly area: string } {
  const most = Math.max(1, ...values.map((value) => value ?? 0));
  const x = (index: number): number => (values.length < 2 ? 0 : (index / (values.length - 1)) * width);
  const y = (value: number | null): number => height - 1 - ((value ?? 0) / most) * (height - 3);
  const points = values.map((value, index) => `${x(index).toFixed(1)} ${y(value).toFixed(1)}`);
  const line = `M${points.join("L")}`;
  return { line, area: `${line}V${height}H0Z` };
}

export function sum(values: readonly (number | null)[]): number {
  return values.reduce<number>((total, value) => total + (value ?? 0), 0);
}
