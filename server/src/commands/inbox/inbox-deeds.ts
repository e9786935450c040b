import type { Command } from "commander";
import { confirm } from "../../terminal/confirm.js";
import { count } from "../../terminal/for-people.js";
import type { CommandContext } from "../command-context.js";
import { defineCommand, YES_FLAG } from "../define-command.js";
import type { Run, YesOption } from "../define-command.js";
import { TENANT_FLAG } from "../listing.js";
import { NOTE_FLAG, RATE_FLAG } from "../operations/operations.js";
import { drawPlan } from "../operations/plan-words.js";
import { followOperation, tellOperation } from "../operations/run-plan.js";
import { CommandFailure } from "../../terminal/failure.js";
import { INBOX_FLAGS } from "./inbox-flags.js";

interface RedriveOptions {
  readonly tenant?: string;
  readonly consumer?: string;
  readonly refused?: string;
  readonly note?: string;
}

interface ReplayOptions extends YesOption {
  readonly source?: string;
  readonly consumer?: string;
  readonly type?: string;
  readonly tenant?: string;
  readonly since?: string;
  readonly until?: string;
  readonly dryRun?: boolean;
  readonly rate?: number;
  readonly note?: string;
}

const WHY: Readonly<Record<string, string>> = {
  staged: "waits for its handler",
  before: "was redriven before",
  applied: "was applied: `posthorn inbox replay` applies it again",
  not_stored: "has no stored event: the provider has to send it again",
  no_worker: "has no worker: nobody has registered a handler for it",
  busy: "is being handled at this moment",
};

/** Adds what is done to events of the inbox. */
export function registerInboxDeeds(inbox: Command, context: CommandContext): void {
  defineCommand<RedriveOptions>(inbox, context, {
    form: "redrive <event>",
    says: "Let handlers handle what failed or was skipped, or a conflict or stale event that was refused.",
    examples: [
      "posthorn inbox redrive stripe/evt_1Q",
      "posthorn inbox redrive stripe/evt_1Q --refused 9f86d081",
    ],
    flags: [
      { form: "--consumer <id>", says: "Only at this consumer." },
      { form: "--refused <hash>", says: "What was refused with this body, by the beginning of its hash." },
      TENANT_FLAG,
      NOTE_FLAG,
    ],
    run: async ({ args: [id = ""], options: { tenant, consumer, refused, note }, client, print }) => {
      const redriven = await client().inbox.redrive(id, { tenant, consumer, refused, note });
      print.show(redriven, () => {
        for (const { consumerId, result } of redriven.items)
          print.line(`${consumerId ?? id} ${WHY[result] ?? result}.`);
      });
    },
  });
  defineCommand<{ readonly tenant?: string; readonly note?: string } & YesOption>(inbox, context, {
    form: "forget <event>",
    says: "Forget an event: when its provider sends it again, it is applied as a new one.",
    examples: ['posthorn inbox forget stripe/evt_1Q --note "they resend it"'],
    flags: [TENANT_FLAG, NOTE_FLAG, YES_FLAG],
    run: async ({ args: [id = ""], options, client, print, context: { terminal } }) => {
      const { tenant, note } = options;
      await confirm(terminal, `Forget ${id}? What its handlers did stays; sent again, they do it again.`, {
        yes: options.yes === true,
      });
      const forgot = await client().inbox.forget(id, { tenant, note });
      print.show(forgot, () => print.line(`Forgotten: ${count(forgot.rows, "row")}.`));
    },
  });
  registerReplay(inbox, context);
}

function registerReplay(inbox: Command, context: CommandContext): void {
  defineCommand<ReplayOptions>(inbox, context, {
    form: "replay",
    says: "Let handlers handle again what they have applied, in a new round: a plan first, then the run.",
    examples: [
      "posthorn inbox replay --source stripe --type invoice.paid --since 24h --dry-run",
      'posthorn inbox replay --consumer billing --since 2027-01-31 --rate 20 --note "wrong VAT, mended"',
    ],
    flags: [
      ...INBOX_FLAGS,
      { form: "--dry-run", says: "Only say what would be done, and keep the plan for an hour." },
      RATE_FLAG,
      NOTE_FLAG,
      YES_FLAG,
    ],
    run: replay,
  });
}

async function replay(run: Run<ReplayOptions>): Promise<void> {
  const { options, print, context } = run;
  const { source, consumer, type, tenant, since, until, rate, note } = options;
  const inbox = { source, consumer, type, tenant, since, until };
  if (Object.values(inbox).every((wanted) => wanted === undefined)) {
    throw new CommandFailure(
      "usage",
      "Say what is to be replayed: everything that was ever applied is too much.",
      {
        cure: "Narrow it down by --source, --consumer, --type, --since or --until.",
      },
    );
  }
  const client = run.client();
  const planned = await client.operations.create({
    verb: "replay",
    filter: { inbox },
    dryRun: true,
    rate,
    note,
  });
  const { plan } = planned;
  if (plan.count === 0) return print.show(planned, () => print.line("There is nothing to replay."));
  if (options.dryRun === true) {
    print.show(planned, () => drawPlan(print, plan, context.clock.now()));
    print.hint({ text: `Nothing was done. Run it: posthorn operations run ${planned.id}`, tone: "faint" });
    return;
  }
  if (!print.json) drawPlan(print, plan, context.clock.now());
  await confirm(context.terminal, `Replay ${count(plan.count, "event")}?`, { yes: options.yes === true });
  const begun = await client.operations.run(planned.id, { rate, note });
  tellOperation(run, await followOperation(run, client, begun));
}
