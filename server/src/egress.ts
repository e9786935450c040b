import { createEgress } from "posthorn/dispatch";
import type { AddressGuardOptions, Egress, EgressAnswer } from "posthorn/dispatch";
import type { Settings } from "./config/settings.js";
import { isLoopback } from "./http/auth/host-check.js";

const LOOPBACK: readonly string[] = ["127.0.0.0/8", "::1"];

/** Opens the egress that deliveries and test sends share. */
export async function openEgress({
  dev,
  allowAddresses,
}: Pick<Settings, "dev" | "allowAddresses">): Promise<Egress> {
  const egress = await createEgress(addressRules({ dev, allowAddresses }));
  return {
    post: async (request) => namingFlags(await egress.post(request)),
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
function namingFlags(answer: EgressAnswer): EgressAnswer {
  const { outcome, detail } = answer;
  if (outcome.kind !== "forbidden" || detail === undefined) return answer;
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
