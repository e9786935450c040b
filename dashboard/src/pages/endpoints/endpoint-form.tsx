import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { CreatedEndpoint, Endpoint, EndpointInput } from "posthorn/client";
import { api } from "../../api/api.ts";
import { tell } from "../../shell/deeds.ts";
import { refreshAll } from "../../api/live.ts";
import { Act } from "../../parts/act.tsx";
import { Choice, Field, Pick } from "../../parts/field.tsx";
import { faultOf } from "../sources/source-form.tsx";

interface EndpointFormProps {
  /** Changes this one; makes a new one where it is left out. */
  readonly endpoint?: Endpoint;
  readonly onDone: (endpoint: CreatedEndpoint) => void;
  readonly onCancel?: () => void;
}

interface Draft {
  readonly url: string;
  readonly id: string;
  readonly types: string;
  readonly sources: string;
  readonly order: Endpoint["order"];
  readonly dead: string;
  readonly maxAttempts: string;
}

const DEAD_OPTIONS = [
  ["halt", "Halt its lane", "Later events of the same key wait for you"],
  ["skip", "Skip it", "The lane goes on, the receiver is told of the gap"],
  ["park", "Park its lane", "Waits too, but asks nobody to look"],
] as const;

const ORDER_OPTIONS = [
  ["key", "by key: events of one key never overtake each other"],
  ["endpoint", "all in one lane: none overtakes another"],
  ["none", "no order: events go out as they come"],
] as const;

/** Patterns as they are typed; all of them is nothing. */
function list(patterns: readonly string[]): string {
  const text = patterns.join(", ");
  return text === "*" ? "" : text;
}

function draftOf(endpoint: Endpoint | undefined): Draft {
  if (endpoint === undefined) {
    return { url: "", id: "", types: "", sources: "", order: "key", dead: "halt", maxAttempts: "" };
  }
  const { url, id, types, sources, order, dead, retry } = endpoint;
  const most = retry["maxAttempts"];
  return {
    url,
    id,
    types: list(types),
    sources: list(sources),
    order,
    dead: dead ?? (order === "none" ? "skip" : "halt"),
    maxAttempts: typeof most === "number" ? String(most) : "",
  };
}

/** Adds or changes an endpoint: where events go, which, and what is done when they cannot be delivered. */
export function EndpointForm({ endpoint, onDone, onCancel }: EndpointFormProps): JSX.Element {
  const [draft, setDraft] = useState(() => draftOf(endpoint));
  const [fault, setFault] = useState<ReturnType<typeof faultOf> | undefined>();
  const change = (part: Partial<Draft>): void => {
    setDraft({ ...draft, ...part });
    setFault(undefined);
  };
  const save = async (): Promise<void> => {
    try {
      const { id, ...input } = inputOf(draft, endpoint);
      const saved =
        endpoint === undefined
          ? await api.endpoints.create({ ...input, ...(id !== "" && { id }) })
          : await api.endpoints.update(endpoint.id, input);
      tell(
        endpoint === undefined
          ? `The endpoint ${saved.id} is there.`
          : `${saved.id} is changed. The next attempt uses it.`,
      );
      void refreshAll();
      onDone(saved);
    } catch (error) {
      setFault(faultOf(error));
    }
  };
  return (
    <form class="form" onSubmit={(event) => event.preventDefault()}>
      <Fields draft={draft} change={change} fault={fault} isNew={endpoint === undefined} />
      <div class="btns">
        <Act
          kind="primary"
          type="submit"
          because={draft.url === "" ? "Give it an address." : undefined}
          onAct={save}
        >
          {endpoint === undefined ? `Add endpoint ${draft.id}` : `Save ${endpoint.id}`}
        </Act>
        {onCancel !== undefined && (
          <Act kind="quiet" harmless onAct={onCancel}>
            Cancel
          </Act>
        )}
      </div>
    </form>
  );
}

interface FieldsProps {
  readonly draft: Draft;
  readonly change: (part: Partial<Draft>) => void;
  readonly fault: ReturnType<typeof faultOf> | undefined;
  readonly isNew: boolean;
}

const SHOWN: ReadonlySet<string> = new Set(["url", "id", "types", "sources", "retry"]);

function Fields(props: FieldsProps): JSX.Element {
  const { draft, change, fault } = props;
  const elsewhere = fault !== undefined && !SHOWN.has(rootOf(fault.field));
  return (
    <>
      <Field
        label="Address"
        type="url"
        mono
        placeholder="https://shop.example.com/hooks"
        value={draft.url}
        onValue={(url) => change({ url })}
        fault={faultIn(fault, "url")}
        hint="Gets a signed POST for each event."
      />
      <SmallFields {...props} />
      <Choice
        label="Order"
        value={draft.order}
        options={ORDER_OPTIONS}
        onValue={(order) => change({ order: order as Draft["order"] })}
      />
      <Pick
        legend="When an event cannot be delivered"
        value={draft.dead}
        options={DEAD_OPTIONS}
        onValue={(dead) => change({ dead })}
      />
      {elsewhere && (
        <p class="bad small" role="alert">
          {fault.message}
        </p>
      )}
    </>
  );
}

function rootOf(field: string): string {
  return field.split(".")[0] ?? "";
}

function faultIn(fault: FieldsProps["fault"], field: string): string | undefined {
  return fault !== undefined && rootOf(fault.field) === field ? fault.message : undefined;
}

const SMALL = [
  {
    name: "id",
    label: "Id",
    placeholder: "ep_shop",
    hint: "Letters, digits, - and _. Leave it empty, and one is made.",
  },
  {
    name: "types",
    label: "Types",
    placeholder: "All types",
    hint: "Empty for all, or invoice.*, order.paid",
  },
  { name: "sources", label: "Sources", placeholder: "All sources", hint: "Empty for all, or stripe, shop-*" },
  {
    name: "maxAttempts",
    label: "Attempts",
    placeholder: "15",
    hint: "15 take almost three days: 1 s, 4 s, 16 s …",
  },
] as const;

function SmallFields({ draft, change, fault, isNew }: FieldsProps): JSX.Element {
  return (
    <div class="two">
      {SMALL.filter(({ name }) => isNew || name !== "id").map(({ name, ...field }) => (
        <Field
          {...field}
          key={name}
          type={name === "maxAttempts" ? "number" : "text"}
          value={draft[name]}
          onValue={(value) => change({ [name]: value })}
          fault={faultIn(fault, name === "maxAttempts" ? "retry" : name)}
        />
      ))}
    </div>
  );
}

/** `a, b` as a list; nothing stands for all. */
export function patternsOf(text: string): readonly string[] {
  const given = text.split(/[\s,]+/).filter((part) => part !== "");
  return given.length === 0 ? ["*"] : given;
}

function inputOf(draft: Draft, before: Endpoint | undefined): EndpointInput & { readonly id: string } {
  const { url, id, types, sources, order, dead, maxAttempts } = draft;
  const most = Number(maxAttempts);
  const kept = before?.retry["kind"] === "exponential" ? before.retry : {};
  return {
    id: id.trim(),
    url: url.trim(),
    types: patternsOf(types),
    sources: patternsOf(sources),
    order,
    dead: dead as "halt" | "skip" | "park",
    ...(Number.isInteger(most) && most > 0 && { retry: { ...kept, maxAttempts: most } }),
  };
}
