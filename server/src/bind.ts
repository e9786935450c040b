import type { ListenAddress } from "./config/settings.js";
import { addressText } from "./config/print.js";
import { CommandFailure } from "./terminal/failure.js";

/** Explains why the server cannot listen there; returns other errors as they are. */
export function bindFailure(error: unknown, listen: ListenAddress): unknown {
  const { code } = Object(error) as { readonly code?: unknown };
  const address = addressText(listen);
  switch (code) {
    case "EADDRINUSE":
      return new CommandFailure("failed", `The address ${address} is taken by another program.`, {
        code: "address_taken",
        cure: `Is another Posthorn running? Choose another port with --listen ${addressText({ ...listen, port: listen.port + 1 })}`,
        cause: error,
      });
    case "EACCES":
      return new CommandFailure("failed", `This user may not listen at ${address}.`, {
        code: "address_forbidden",
        cure: "Choose a port above 1023 with --listen, and put a proxy in front of it.",
        cause: error,
      });
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return new CommandFailure("failed", `This machine has no address ${listen.host}.`, {
        code: "address_unknown",
        cure: "Choose one of its own with --listen, or 0.0.0.0 for all of them.",
        cause: error,
      });
    default:
      return error;
  }
}

/** The URL for programs on the same machine. */
export function localUrl({ host, port }: ListenAddress): string {
  const name = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${addressText({ host: name, port })}`;
}
