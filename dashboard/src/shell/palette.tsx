import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Found } from "posthorn/client";
import { status } from "../api/status.ts";
import { Icon } from "../parts/icon.tsx";
import { navigate } from "../place/location.ts";
import { oneLine } from "../words/format.ts";
import { commandsOf, matching } from "./commands.ts";
import type { Command } from "./commands.ts";
import { paletteShown } from "./keys.ts";
import { hrefOfFound, look } from "./look.ts";

const MOST_SHOWN = 40;

/** A line as it is drawn: a command, or something that the server found. */
interface Line {
  readonly group: string;
  readonly icon: string;
  readonly label: string;
  readonly key?: string | undefined;
  readonly run: () => void;
}

function close(): void {
  paletteShown.value = false;
}

/** Commands and pages by a few letters, and anything by its id. */
export function Palette(): JSX.Element | null {
  return paletteShown.value ? <OpenPalette /> : null;
}

function OpenPalette(): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const [found, setFound] = useState<readonly Found[]>([]);
  const closed = useRef(false);
  useEffect(() => {
    dialog.current?.showModal();
    return () => {
      closed.current = true;
    };
  }, []);
  const lines = linesOf(typed, found);
  const chosen = Math.min(at, lines.length - 1);
  useEffect(() => {
    dialog.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const type = (text: string): void => {
    setTyped(text);
    setAt(0);
    setFound([]);
  };
  const run = (line: Line | undefined): void => {
    close();
    line?.run();
  };
  const ask = async (): Promise<void> => {
    const looked = await look(typed);
    // An answer that comes after somebody has left must not take them anywhere.
    if (closed.current) return;
    if (looked.kind === "go") return run({ ...NOTHING, run: () => navigate(looked.href) });
    setFound(looked.items);
    setAt(0);
  };
  const press = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) setAt((chosen + step + lines.length) % Math.max(1, lines.length));
    else if (event.key !== "Enter") return;
    else if (lines.length > 0) run(lines[chosen]);
    else void ask();
    event.preventDefault();
  };
  return (
    // On cancel: the event of the close comes later, and keys that open it again would be taken for those that close it.
    <dialog class="palette" ref={dialog} aria-label="Commands" onCancel={close} onClick={closeOutside}>
      <PaletteField
        value={typed}
        active={lines.length > 0 ? `command-${chosen}` : undefined}
        onType={type}
        onPress={press}
      />
      <Lines lines={lines} chosen={chosen} run={run} />
      {lines.length === 0 && <NoLine typed={typed} />}
    </dialog>
  );
}

function NoLine({ typed }: { readonly typed: string }): JSX.Element {
  return (
    <p class="palette-none">
      No command has these letters. Press <kbd>enter</kbd> to look for “{oneLine(typed, 60)}” as an id.
    </p>
  );
}

interface PaletteFieldProps {
  readonly value: string;
  /** The id of the line that enter runs. */
  readonly active: string | undefined;
  readonly onType: (text: string) => void;
  readonly onPress: (event: KeyboardEvent) => void;
}

function PaletteField({ value, active, onType, onPress }: PaletteFieldProps): JSX.Element {
  return (
    <div class="palette-field">
      <Icon name="search" />
      <input
        class="palette-input"
        type="text"
        role="combobox"
        aria-label="Command, page or id"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={active}
        placeholder="What do you want to do?"
        autoComplete="off"
        spellcheck={false}
        value={value}
        onInput={(event) => onType(event.currentTarget.value)}
        onKeyDown={onPress}
      />
      <kbd>esc</kbd>
    </div>
  );
}

const NOTHING: Line = { group: "", icon: "", label: "", run: () => undefined };

function closeOutside(event: MouseEvent): void {
  if (event.target instanceof HTMLDialogElement) close();
}

function linesOf(typed: string, found: readonly Found[]): readonly Line[] {
  const items = found.map((item): Line => {
    const run = (): void => navigate(hrefOfFound(item));
    return { group: "Found", icon: "right", label: oneLine(item.text, 100), run };
  });
  const commands: readonly Command[] = matching(commandsOf(status.value), typed);
  return [...items, ...commands].slice(0, MOST_SHOWN);
}

interface LinesProps {
  readonly lines: readonly Line[];
  readonly chosen: number;
  readonly run: (line: Line) => void;
}

function Lines({ lines, chosen, run }: LinesProps): JSX.Element {
  return (
    <ul class="palette-list" id="palette-list" role="listbox" aria-label="Commands">
      {lines.map((line, index) => (
        <li
          id={`command-${index}`}
          key={`${line.group} ${line.label} ${index}`}
          role="option"
          aria-selected={index === chosen}
          onClick={() => run(line)}
        >
          <Icon name={line.icon} />
          <span class="cut">{line.label}</span>
          <span class="palette-group">{line.key === undefined ? line.group : <kbd>{line.key}</kbd>}</span>
        </li>
      ))}
    </ul>
  );
}
