import type { Command } from "commander";
import type { CommandContext } from "./command-context.js";
import { registerDead } from "./dead.js";
import { registerDeliveries } from "./deliveries.js";
import { registerDemo } from "./demo.js";
import { registerEndpoint } from "./endpoint.js";
import { registerEvents } from "./events.js";
import { registerLanes } from "./lanes.js";
import { registerRedrive } from "./redrive.js";
import { registerRejected } from "./rejected.js";
import { registerSend } from "./send.js";
import { registerSign } from "./sign.js";
import { registerSkip } from "./skip.js";
import { registerSource } from "./source.js";
import { registerToken } from "./token.js";
import { registerTrigger } from "./trigger.js";
import { registerVerify } from "./verify.js";

/** Adds every command that talks to a running server, and those that judge and make signatures. */
export function registerClientCommands(program: Command, context: CommandContext): void {
  registerSource(program, context);
  registerEndpoint(program, context);
  registerSend(program, context);
  registerTrigger(program, context);
  registerEvents(program, context);
  registerDeliveries(program, context);
  registerLanes(program, context);
  registerDead(program, context);
  registerRedrive(program, context);
  registerSkip(program, context);
  registerRejected(program, context);
  registerSign(program, context);
  registerVerify(program, context);
  registerToken(program, context);
  registerDemo(program, context);
}
