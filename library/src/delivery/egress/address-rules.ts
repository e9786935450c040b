/** A range to which nothing is sent, unless the setting `allowAddresses` opens it. */
export interface AddressRule {
  /** As CIDR. */
  readonly range: string;
  readonly why: string;
  /** It hands out credentials: a wider range in `allowAddresses` does not open it, only its own address does. */
  readonly metadata?: true;
}

const metadata = (address: string, why: string): AddressRule => ({
  range: `${address}/${address.includes(":") ? 128 : 32}`,
  why: `the metadata service of ${why}`,
  metadata: true,
});

const range = (cidr: string, why: string): AddressRule => ({ range: cidr, why });

/** Addresses that hand credentials to whoever asks. Not all lie in a private range: Azure's is in public space. */
const METADATA: readonly AddressRule[] = [
  metadata("169.254.169.254", "most clouds"),
  metadata("169.254.170.2", "AWS containers"),
  metadata("169.254.170.23", "AWS pods"),
  metadata("169.254.0.23", "Tencent Cloud"),
  metadata("169.254.42.42", "Scaleway"),
  metadata("100.100.100.200", "Alibaba Cloud"),
  metadata("168.63.129.16", "Azure's host"),
  metadata("192.0.0.192", "Oracle Cloud"),
  metadata("fd00:ec2::254", "AWS"),
  metadata("fd00:ec2::23", "AWS pods"),
  metadata("fd20:ce::254", "Google Cloud"),
  metadata("fd00:42::42", "Scaleway"),
  metadata("fd00:c1::a9fe:a9fe", "Oracle Cloud"),
  metadata("fe80::a9fe:a9fe", "OpenStack"),
];

/** IANA's registry of special-purpose IPv4 addresses, and the parts of the space that are no unicast. */
const IPV4: readonly AddressRule[] = [
  range("0.0.0.0/8", "this network; on many systems 0.0.0.0 is the machine itself"),
  range("10.0.0.0/8", "private use"),
  range("100.64.0.0/10", "shared address space of carriers and overlay networks"),
  range("127.0.0.0/8", "loopback"),
  range("169.254.0.0/16", "link-local"),
  range("172.16.0.0/12", "private use"),
  range("192.0.0.0/24", "protocol assignments"),
  range("192.0.2.0/24", "documentation"),
  range("192.31.196.0/24", "AS112 sink of reverse lookups"),
  range("192.52.193.0/24", "automatic multicast tunnelling"),
  range("192.88.99.0/24", "6to4 relays, which lead elsewhere"),
  range("192.168.0.0/16", "private use"),
  range("192.175.48.0/24", "AS112 sink of reverse lookups"),
  range("198.18.0.0/15", "benchmarks"),
  range("198.51.100.0/24", "documentation"),
  range("203.0.113.0/24", "documentation"),
  range("224.0.0.0/4", "multicast"),
  range("255.255.255.255/32", "broadcast"),
  range("240.0.0.0/4", "reserved"),
];

/** IANA's registry of special-purpose IPv6 addresses. Those that carry an IPv4 address would smuggle any of the above. */
const IPV6_SPECIAL: readonly AddressRule[] = [
  range("::/128", "unspecified; on many systems the machine itself"),
  range("::1/128", "loopback"),
  range("::ffff:0:0/96", "an IPv4 address in IPv6 form (mapped)"),
  range("::ffff:0:0:0/96", "an IPv4 address in IPv6 form (translated)"),
  range("::/96", "an IPv4 address in IPv6 form (compatible)"),
  range("64:ff9b::/96", "an IPv4 address behind NAT64"),
  range("64:ff9b:1::/48", "an IPv4 address behind a local NAT64"),
  range("100::/64", "discard-only"),
  range("100:0:0:1::/64", "dummy prefix"),
  range("2001::/32", "an IPv4 address behind Teredo"),
  range("2001:2::/48", "benchmarks"),
  range("2001:10::/28", "identifiers that are no addresses (ORCHID)"),
  range("2001:20::/28", "identifiers that are no addresses (ORCHID)"),
  range("2001:30::/28", "identifiers of drones"),
  range("2001:db8::/32", "documentation"),
  range("2001::/23", "protocol assignments"),
  range("2002::/16", "an IPv4 address behind 6to4"),
  range("2620:4f:8000::/48", "AS112 sink of reverse lookups"),
  range("3fff::/20", "documentation"),
  range("3ffe::/16", "the former 6bone"),
  range("5f00::/16", "segment routing"),
  range("fc00::/7", "unique local, the private use of IPv6"),
  range("fe80::/10", "link-local"),
  range("fec0::/10", "site-local, the former private use of IPv6"),
  range("ff00::/8", "multicast"),
];

/** All of IPv6 but 2000::/3, the only part that is global unicast: what IANA assigns one day is closed until then. */
const IPV6_REST: readonly AddressRule[] = ["::/3", "4000::/2", "8000::/1"].map((cidr) =>
  range(cidr, "not global unicast"),
);

/**
 * Every range to which nothing is sent. The first row that matches gives the reason, so the narrower ones come first.
 * Ranges of the two families are never compared with each other: `::ffff:0:0/96` would then mean all of IPv4.
 */
export const FORBIDDEN_ADDRESSES: readonly AddressRule[] = [
  ...METADATA,
  ...IPV4,
  ...IPV6_SPECIAL,
  ...IPV6_REST,
];
