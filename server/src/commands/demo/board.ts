import type { Endpoint, Lane } from "posthorn/client";
import { paint } from "../../terminal/colour.js";
import { count, duration } from "../../terminal/for-people.js";
import { drawTable } from "../../terminal/table.js";
import type { Canvas, Piece } from "../../terminal/table.js";
import type { Terminal } from "../../terminal/terminal.js";
import { laneTable } from "../lanes/lanes.js";
import type { House } from "./town.js";

/** What the board shows at one moment. */
export interface Moment {
  readonly published: number;
  readonly passedMs: number;
  readonly url: string;
  readonly houses: readonly { readonly house: House; readonly endpoint: Endpoint | undefined }[];
  /** Blocked ones first. */
  readonly lanes: readonly Lane[];
}

/** The whole picture, in at most so many lines. Pure. */
export function drawBoard(moment: Moment, canvas: Canvas, most: number): readonly string[] {
  const title = `${count(moment.published, "event")} in ${duration(moment.passedMs)}, server ${moment.url}`;
  const head = [
    `${paint("A small town", "strong", canvas.colour)}  ${title}`,
    "",
    ...linesOf(drawTable(houseTable(moment), canvas)),
    "",
    paint(laneTitle(moment.lanes), "strong", canvas.colour),
  ];
  const lanes = moment.lanes.length === 0 ? [] : linesOf(drawTable(laneTable(moment.lanes), canvas));
  return [...head, ...lanes].slice(0, most);
}

function laneTitle(lanes: readonly Lane[]): string {
  const blocked = lanes.filter(({ blockedMs }) => blockedMs !== null).length;
  return `${count(lanes.length, "lane")} in which something waits, ${blocked} of them blocked`;
}

function houseTable({ houses, lanes }: Moment): Parameters<typeof drawTable>[0] {
  return {
    columns: [
      { title: "ENDPOINT" },
      { title: "CHARACTER", least: 10 },
      { title: "STATE" },
      { title: "TAKEN", align: "right" },
      { title: "FAILED", align: "right" },
      { title: "TWICE", align: "right" },
      { title: "WAITING", align: "right" },
      { title: "ORDER" },
    ],
    rows: houses.map(({ house, endpoint }): readonly Piece[] => {
      const { taken, failed, repeated, outOfOrder } = house.report();
      const waiting = lanes
        .filter(({ endpointId }) => endpointId === endpoint?.id)
        .reduce((sum, { depth }) => sum + BigInt(depth), 0n);
      return [
        { text: house.character.name, tone: "name" },
        house.character.says,
        { text: endpoint?.state ?? "–", tone: endpoint?.state === "active" ? "good" : "bad" },
        taken,
        failed,
        repeated,
        String(waiting),
        outOfOrder === 0
          ? { text: "kept", tone: "good" }
          : { text: `broken ${outOfOrder} times`, tone: "bad" },
      ];
    }),
  };
}

function linesOf(text: string): readonly string[] {
  return text.trimEnd().split("\n");
}

const ALTERNATE_ON = "\u001b[?1049h\u001b[?25l";
const ALTERNATE_OFF = "\u001b[?25h\u001b[?1049l";

/** Takes the whole screen of a terminal, and gives it back as it was. */
export class Screen {
  readonly #terminal: Terminal;
  #open = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  show(lines: readonly string[]): void {
    const start = this.#open ? "" : ALTERNATE_ON;
    this.#open = true;
    // Erases the rest of each line and of the screen, so that nothing old shows through.
    this.#terminal.write(`${start}\u001b[H${lines.map((line) => `${line}\u001b[K\r\n`).join("")}\u001b[J`);
  }

  close(): void {
    if (this.#open) this.#terminal.write(ALTERNATE_OFF);
    this.#open = false;
  }
}
