import type { Command } from "commander";
import type { CommandContext } from "./command-context.js";
import { registerDead } from "./deliveries/dead.js";
import { registerDeliveries } from "./deliveries/deliveries.js";
import { registerDemo } from "./demo/demo.js";
import { registerEndpoint } from "./endpoints/endpoint.js";
import { registerEvents } from "./events/events.js";
import { registerInit } from "./init/init.js";
import { registerLanes } from "./lanes/lanes.js";
import { registerRedrive } from "./deliveries/redrive.js";
import { registerRetry } from "./deliveries/retry.js";
import { registerRejected } from "./sources/rejected.js";
import { registerSetAside } from "./events/set-aside.js";
import { registerSend } from "./requests/send.js";
import { registerSign } from "./requests/sign.js";
import { registerSkip } from "./lanes/skip.js";
import { registerSource } from "./sources/source.js";
import { registerToken } from "./tokens/token.js";
import { registerTrigger } from "./requests/trigger.js";
import { registerVerify } from "./requests/verify.js";

/** Adds every command that talks to a running server, those that judge and make signatures, and `init`. */
export function registerClientCommands(program: Command, context: CommandContext): void {
  registerInit(program, context);
  registerSource(program, context);
  registerEndpoint(program, context);
  registerSend(program, context);
  registerTrigger(program, context);
  registerEvents(program, context);
  registerDeliveries(program, context);
  registerLanes(program, context);
  registerDead(program, context);
  registerRetry(program, context);
  registerRedrive(program, context);
  registerSetAside(program, context);
  registerSkip(program, context);
  registerRejected(program, context);
  registerSign(program, context);
  registerVerify(program, context);
  registerToken(program, context);
  registerDemo(program, context);
}
