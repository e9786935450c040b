/** Names that mean something inside a network only: a public resolver has no answer, and a private one has its own. */
const FORBIDDEN_ENDINGS: ReadonlyMap<string, string> = new Map([
  ["localhost", "the machine itself"],
  ["localdomain", "the machine itself"],
  ["local", "the local network (mDNS)"],
  ["internal", "private networks and metadata services"],
  ["intranet", "private networks"],
  ["private", "private networks"],
  ["corp", "private networks"],
  ["lan", "private networks"],
  ["home", "home networks"],
  // `home.arpa` among them.
  ["arpa", "the infrastructure of DNS, and home networks"],
  ["test", "tests"],
  ["invalid", "names that never exist"],
  ["example", "documentation"],
  ["onion", "Tor"],
  ["alt", "systems other than DNS"],
]);

/** Why a name is refused before anybody resolves it; undefined where it may be resolved. */
export interface NameObjection {
  readonly why: string;
  /** Whether it is a name at all. One that is none stays refused whatever `allowAddresses` says. */
  readonly local: boolean;
}

/** Judges a hostname of WHATWG form (lower case, punycode) that is no address. */
export function objectToName(hostname: string): NameObjection | undefined {
  // `localhost.` is `localhost`: the final dot only keeps resolvers from trying their search list.
  const name = hostname.endsWith(".") ? hostname.slice(0, -1) : hostname;
  const labels = name.split(".");
  if (name.length > 253 || labels.some((label) => label === "" || label.length > 63)) {
    return { why: "DNS allows no such name", local: false };
  }
  const ending = labels.at(-1) ?? "";
  const kept = FORBIDDEN_ENDINGS.get(ending);
  if (kept !== undefined) return { why: `names that end in ${ending} are kept for ${kept}`, local: true };
  return labels.length > 1 ? undefined : { why: "a name of one label is of the local network", local: true };
}

interface PortRule {
  readonly ports: readonly number[];
  readonly why: string;
}

/**
 * Ports on which something other than HTTP listens by convention. Such a server reads a request line by line and may
 * act on one of them: a body that the sender chose is then a command. The first row is the list of ports that browsers
 * refuse for this reason (the Fetch standard's); the others are what has been attacked in this way since.
 */
const FORBIDDEN_PORTS: readonly PortRule[] = [
  {
    ports: [
      1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
      109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
      526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
      3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
    ],
    why: "browsers refuse it too, since other protocols use it",
  },
  { ports: [445, 873, 3389, 5900], why: "file sharing and remote desktops use it" },
  { ports: [1433, 1521, 3306, 5432, 9042, 27017], why: "databases use it" },
  { ports: [6379, 6380, 11211, 16379, 26379], why: "caches that obey lines of text use it" },
  { ports: [1883, 2181, 4369, 5672, 8883, 9092, 61613, 61616], why: "brokers use it" },
  { ports: [2375, 2376, 2379, 2380, 10250, 10255], why: "the control of containers uses it" },
];

const whyByPort: ReadonlyMap<number, string> = new Map(
  FORBIDDEN_PORTS.flatMap(({ ports, why }) => ports.map((port): [number, string] => [port, why])),
);

/** Why nothing is sent to a port; undefined where something may be. */
export function objectToPort(port: number): string | undefined {
  return port === 0 ? "it is no port" : whyByPort.get(port);
}
