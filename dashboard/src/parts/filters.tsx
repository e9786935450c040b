import type { JSX } from "preact";
import { hrefOf, place, setQuery } from "../place/location.ts";
import { oneLine } from "../words/format.ts";
import { Chip } from "./list.tsx";

export type Filter = Readonly<Record<string, string>>;

/** The filters of a list that are in the address. */
export function filtersIn(names: readonly string[]): Filter {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = place.value.query.get(name);
      return value === null || value === "" ? [] : [[name, value]];
    }),
  );
}

const HINTS: Readonly<Record<string, string>> = {
  since: "24h, or 2026-11-18T08:00Z",
  until: "1h, or 2026-11-18T09:00Z",
  id: "its beginning",
  direction: "in or out",
  state: "dead, delivered, retrying, …",
  code: "signature_mismatch",
  status: "500, or none",
  because: "conflict, or stale",
  outcome: "success, skipped, failed, …",
  consumer: "billing, or hnd_billing",
};

interface FiltersProps {
  /** Those that the API serves by an index. */
  readonly names: readonly string[];
  readonly filter: Filter;
}

/** The filters in force as chips, and a field for one more. */
export function Filters({ names, filter }: FiltersProps): JSX.Element {
  const given = Object.entries(filter);
  return (
    <div class="toolbar">
      {given.map(([name, value]) => (
        <Chip name={name} value={oneLine(value, 60)} key={name} />
      ))}
      <AddFilter names={names} />
      {given.length > 1 && (
        <a class="btn sm quiet" href={hrefOf(place.value.path)}>
          Clear all
        </a>
      )}
    </div>
  );
}

function submit(event: SubmitEvent): void {
  event.preventDefault();
  const form = event.currentTarget as HTMLFormElement;
  const name = form.querySelector("select")?.value ?? "";
  setQuery({ [name]: form.querySelector("input")?.value.trim() });
  form.reset();
}

/** Says what the chosen filter takes. */
function hint(select: HTMLSelectElement): void {
  const input = select.form?.querySelector("input");
  if (input !== null && input !== undefined) input.placeholder = HINTS[select.value] ?? "exactly";
}

function AddFilter({ names }: Pick<FiltersProps, "names">): JSX.Element {
  return (
    <form class="filter" onSubmit={submit}>
      <select
        class="input"
        name="name"
        aria-label="Filter by"
        onChange={(event) => hint(event.currentTarget)}
      >
        {names.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <input
        class="input"
        name="value"
        required
        aria-label="Value"
        placeholder="exactly"
        autoComplete="off"
      />
      <button class="btn" type="submit">
        Filter
      </button>
    </form>
  );
}
