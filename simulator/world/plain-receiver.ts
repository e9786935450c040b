import type { Reply, SignedRequest } from "../../library/src/signature/scheme.js";
import type { Life } from "./life.js";
import type { Door } from "./network.js";
import type { HandlerPlan } from "../script/script.js";
import { numberOf, textOf } from "./wire-event.js";

const TAKEN: Reply = { status: 200 };
const FAILED: Reply = { status: 500 };

/** A receiver that somebody else has written: it knows nothing of Posthorn, and takes whatever comes. */
export class PlainReceiver implements Door {
  readonly life: Life;
  readonly #begun = new Map<string, number>();

  constructor(life: Life) {
    this.life = life;
  }

  async receive(source: string, { body }: SignedRequest): Promise<Reply> {
    const text = textOf(body);
    const name = `${source} ${numberOf(text)}`;
    const times = (this.#begun.get(name) ?? 0) + 1;
    this.#begun.set(name, times);
    const handler = /"handler":"(\w+)"/.exec(text)?.[1] as HandlerPlan | undefined;
    if (handler === "slow") await this.life.sleep(20 + 150 * this.life.random.next());
    if (handler === "hangs_once" && times === 1) await this.life.sleep(5000);
    const fails = handler === "throws_always" || (handler === "throws_once" && times === 1);
    return fails ? FAILED : TAKEN;
  }
}
