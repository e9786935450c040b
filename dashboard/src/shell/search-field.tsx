import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Found } from "posthorn/client";
import { Icon } from "../parts/icon.tsx";
import { navigate, place } from "../place/location.ts";
import { oneLine } from "../words/format.ts";
import { hrefOfFound, look } from "./look.ts";

/** What came of a search that leads to no single page. */
interface Answer {
  readonly message: string;
  readonly items: readonly Found[];
}

/** Takes an id, a header, a curl command or qualifiers, and goes there. */
export function SearchField(): JSX.Element {
  const [answer, setAnswer] = useState<Answer | undefined>();
  const [busy, setBusy] = useState(false);
  const { path, query } = place.value;
  // What was found belongs to the page that was looked from.
  useEffect(() => setAnswer(undefined), [path, query]);
  const submit = async (input: HTMLInputElement | null): Promise<void> => {
    setBusy(true);
    const found = await look(input?.value ?? "");
    setBusy(false);
    if (found.kind !== "go") return setAnswer(found);
    if (input !== null) {
      input.value = "";
      input.blur();
    }
    setAnswer(undefined);
    navigate(found.href);
  };
  return (
    <form
      class="search"
      role="search"
      aria-busy={busy}
      onSubmit={(event) => {
        event.preventDefault();
        void submit(event.currentTarget.querySelector("input"));
      }}
    >
      <Icon name="search" />
      <label class="sr" for="search">
        Search
      </label>
      <input
        id="search"
        type="search"
        autoComplete="off"
        spellcheck={false}
        placeholder="Search, or paste an id, a header or a curl command"
        aria-describedby="search-answer"
        onInput={() => setAnswer(undefined)}
        onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
      />
      <kbd>/</kbd>
      <div class="search-answer" id="search-answer" role="status" hidden={answer === undefined}>
        {answer !== undefined && <AnswerList answer={answer} />}
      </div>
    </form>
  );
}

function AnswerList({ answer }: { readonly answer: Answer }): JSX.Element {
  return (
    <>
      <p>{answer.message}</p>
      {answer.items.map((item) => (
        <a href={hrefOfFound(item)} key={`${item.kind} ${item.id}`}>
          <span class="kind">{item.kind}</span>
          <span class="cut">{oneLine(item.text, 100)}</span>
        </a>
      ))}
    </>
  );
}
