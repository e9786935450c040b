import { createAddressGuard, createEgress } from "posthorn/dispatch";
import type { AddressGuardOptions, Egress, EgressAnswer, EgressOptions } from "posthorn/dispatch";
import type { Settings } from "./config/settings.js";
import { isLoopback } from "./http/auth/host-check.js";
import type { Logger } from "./observe/log.js";

const LOOPBACK: readonly string[] = ["127.0.0.0/8", "::1"];

/** Opens the egress that deliveries and test sends share. */
export async function openEgress(
  settings: Pick<Settings, "dev" | "allowAddresses">,
  { log, ...options }: { readonly log: Pick<Logger, "warn"> } & Pick<EgressOptions, "resolve">,
): Promise<Egress> {
  const rules = addressRules(settings);
  const egress = await createEgress({ ...rules, ...options });
  const guard = createAddressGuard(rules);
  return {
    post: async (request) => {
      const answer = await egress.post(request);
      if (answer.outcome.kind !== "forbidden" || answer.detail === undefined) return answer;
      // A refusal of the URL tells only what the caller wrote.
      if (guard.judgeUrl(request.url).kind === "forbidden") return namingFlags(answer, answer.detail);
      // That of an address behind a name would tell whoever may test an endpoint what names mean in this network.
      const host = new URL(request.url).hostname;
      log.warn(
        { host, found: flagWords(answer.detail) },
        "nothing was sent: the name leads to a refused address",
      );
      return {
        ...answer,
        detail: `${host} leads to an address where nothing is sent. The server's log names it, and what would allow it.`,
      };
    },
    close: () => egress.close(),
  };
}

/** The egress's rules, to judge an address before it is used. */
export function addressRules({
  dev,
  allowAddresses,
}: Pick<Settings, "dev" | "allowAddresses">): Pick<AddressGuardOptions, "allowAddresses" | "allowHttp"> {
  return { allowAddresses: dev ? [...allowAddresses, ...LOOPBACK] : allowAddresses, allowHttp: dev };
}

/** Refusals of the library name its options; operators look for flags. */
function namingFlags(answer: EgressAnswer, detail: string): EgressAnswer {
  return { ...answer, detail: flagWords(detail) };
}

/** Replaces the library's options by flags in a refusal of the address guard. */
export function flagWords(message: string): string {
  return message
    .replaceAll(/allowHttp: true would allow it/g, "`posthorn serve --dev` would allow it")
    .replaceAll(/allowAddresses: \["([^"]+)"\] would allow it/g, (_, address: string) =>
      isLoopback(address)
        ? "`posthorn serve --dev` would allow it"
        : `\`posthorn serve --allow-addresses ${address}\` would allow it`,
    )
    .replaceAll(
      /allowAddresses with the addresses that it resolves to would allow it/g,
      "`posthorn serve --allow-addresses` with the addresses that it resolves to, or `--dev` for loopback, would allow it",
    );
}
