import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Source, SourceInput } from "posthorn/client";
import { isPosthornError, problemOf } from "posthorn/client";
import { api, failureOf } from "../api.ts";
import { tell } from "../deeds.ts";
import { refreshAll } from "../live.ts";
import { PROVIDERS, providerOf } from "../providers.ts";
import { newSecret } from "../sample.ts";
import { Act } from "./act.tsx";
import { Choice, Field } from "./field.tsx";

interface SourceFormProps {
  /** Told of what was made, with the secret, which nobody can read again. */
  readonly onMade: (source: Source, secret: string) => void;
  readonly onCancel?: () => void;
}

interface Draft {
  readonly scheme: string;
  readonly name: string;
  readonly secret: string;
  readonly keyPointer: string;
}

const FIRST: Draft = { scheme: "stripe", name: "stripe", secret: "", keyPointer: "/data/object/customer" };

/** Which field a failure is of, and its words. */
export function faultOf(error: unknown): { readonly field: string; readonly message: string } {
  const problem = isPosthornError(error) ? problemOf(error) : undefined;
  return { field: problem?.field ?? "", message: problem?.detail ?? failureOf(error).detail };
}

/** Adds a source: who sends, how it signs, and by what its events are in order. */
export function SourceForm({ onMade, onCancel }: SourceFormProps): JSX.Element {
  const [draft, setDraft] = useState(FIRST);
  const [fault, setFault] = useState<ReturnType<typeof faultOf> | undefined>();
  const change = (part: Partial<Draft>): void => setDraft({ ...draft, ...part });
  const provider = providerOf(draft.scheme);
  const make = async (): Promise<void> => {
    try {
      const source = await api.sources.create(inputOf(draft));
      tell(`The source ${source.name} is there.`);
      void refreshAll();
      onMade(source, draft.secret);
    } catch (error) {
      setFault(faultOf(error));
    }
  };
  const pick = (scheme: string): void => {
    const own = draft.name === "" || draft.name === nameOf(draft.scheme);
    const { keyPointer = "" } = providerOf(scheme);
    setDraft({ ...draft, scheme, keyPointer, name: own ? nameOf(scheme) : draft.name });
    setFault(undefined);
  };
  const signed = draft.scheme !== "none";
  const missing =
    draft.name === ""
      ? "Give it a name."
      : signed && draft.secret === ""
        ? "Give it a secret, or make one to try it."
        : undefined;
  const of = (...fields: string[]): string | undefined =>
    fault !== undefined && fields.includes(fault.field) ? fault.message : undefined;
  const elsewhere =
    fault !== undefined && !["name", "secrets", "key", "key.json"].includes(fault.field)
      ? fault.message
      : undefined;
  return (
    <form class="form" onSubmit={(event) => event.preventDefault()}>
      <div class="two">
        <Choice
          label="Who sends"
          value={draft.scheme}
          options={PROVIDERS.map(({ scheme, title }) => [scheme, title])}
          hint={<SchemeHint scheme={draft.scheme} />}
          onValue={pick}
        />
        <Field
          label="Name"
          value={draft.name}
          onValue={(name) => change({ name })}
          fault={of("name")}
          hint={
            <>
              Its address will end in <code>/in/{draft.name || "…"}</code>
            </>
          }
        />
      </div>
      {signed && (
        <Field
          label="Secret"
          mono
          auto="off"
          value={draft.secret}
          onValue={(secret) => change({ secret })}
          fault={of("secrets")}
          hint={provider.secretHint ?? "by which it signs; never shown again"}
        >
          <Act harmless onAct={() => change({ secret: newSecret(draft.scheme) })}>
            Make one
          </Act>
        </Field>
      )}
      <Field
        label="In order by"
        mono
        placeholder="/data/object/customer"
        value={draft.keyPointer}
        onValue={(keyPointer) => change({ keyPointer })}
        fault={of("key", "key.json")}
        hint="Where the customer stands in the JSON. Events of one key never overtake each other; leave it empty for no order."
      />
      {elsewhere !== undefined && (
        <p class="bad small" role="alert">
          {elsewhere}
        </p>
      )}
      <div class="btns">
        <Act kind="primary" type="submit" because={missing} onAct={make}>
          Add source {draft.name}
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

function SchemeHint({ scheme }: { readonly scheme: string }): JSX.Element {
  if (scheme === "none") return <span class="warn">Anybody who knows the address can send.</span>;
  if (scheme === "hmac") return <>By its options, which the CLI takes: posthorn source add --help</>;
  return <>Checked as this provider signs.</>;
}

function nameOf(scheme: string): string {
  return scheme === "none" || scheme === "hmac" ? "" : scheme.replaceAll("_", "-");
}

function inputOf({ scheme, name, secret, keyPointer }: Draft): SourceInput {
  return {
    name,
    scheme,
    ...(scheme === "none" ? { allowUnverified: true } : { secrets: [secret] }),
    ...(keyPointer.trim() !== "" && { key: { json: keyPointer.trim() } }),
  };
}
