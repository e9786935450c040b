// Clients that cost a server what they can: requests that never end, are too large, or are none.
import { connect } from "node:net";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const [url = "", path = "", slowSockets = "0", openOverMs = "0"] = process.argv.slice(2);
const { hostname, port } = new URL(url);
const SLOW = Number(slowSockets);
const DRIP_MS = 1000;
const OPEN_OVER_MS = Number(openOverMs);
const OPEN_STEP_MS = 20;
// Those whose time is up at the same moment do not come again at the same moment.
const AGAIN_WITHIN_MS = 500;
const COUNT_MS = 100;
// Fewer than ten of two thousand at a time.
const DRIP_STEP_MS = 4;
const LONG_MS = 10 * 60_000;

const HEAD = `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n`;
const SLOW_HEAD = `${HEAD}x-long: `;
const SLOW_BODY = `${HEAD}content-length: 100000\r\n\r\n{`;
const CHUNK = `10000\r\n${"x".repeat(0x1_00_00)}\r\n`;

interface Attack {
  readonly perSecond: number;
  readonly bytes: readonly string[];
}

/** What is sent so many times in a second on the average, each on a connection of its own. */
const ATTACKS: Readonly<Record<string, Attack>> = {
  "too large, told": {
    perSecond: 20,
    bytes: [`${HEAD}content-length: 50000000\r\n\r\n`, "x".repeat(10_000)],
  },
  "too large, in chunks": {
    perSecond: 5,
    bytes: [`${HEAD}transfer-encoding: chunked\r\n\r\n`, ...Array.from({ length: 20 }, () => CHUNK)],
  },
  "no HTTP": { perSecond: 20, bytes: ["\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\r\n\r\n"] },
  "headers too large": { perSecond: 10, bytes: [`${HEAD}x-large: ${"x".repeat(20_000)}\r\n\r\n`] },
  "broken chunk": { perSecond: 10, bytes: [`${HEAD}transfer-encoding: chunked\r\n\r\nzz\r\n`] },
  "not signed": { perSecond: 50, bytes: [`${HEAD}content-length: 2\r\nconnection: close\r\n\r\n{}`] },
};

const slow = new Set<Socket>();
const answered: Record<string, number> = {};
let opened = 0;

function openSlow(): void {
  const socket = connect({ host: hostname, port: Number(port) });
  const first = opened++ % 2 === 0 ? SLOW_HEAD : SLOW_BODY;
  socket.once("connect", () => {
    socket.write(first);
    slow.add(socket);
  });
  socket.on("data", () => undefined);
  socket.on("error", () => undefined);
  // The server has had enough of it: another one comes.
  socket.once("close", () => {
    slow.delete(socket);
    setTimeout(openSlow, Math.random() * AGAIN_WITHIN_MS);
  });
}

/** A byte a second on each, spread over that second: they know nothing of each other. */
function drip(): void {
  const started = Date.now();
  const sockets = [...slow];
  let next = 0;
  const timer = setInterval(() => {
    const until = Math.min(1, (Date.now() - started) / DRIP_MS) * sockets.length;
    while (next < until) {
      const socket = sockets[next++];
      if (socket?.writable === true) socket.write("x");
    }
    if (next < sockets.length) return;
    clearInterval(timer);
    drip();
  }, DRIP_STEP_MS);
}

/** Again and again, as those come who know nothing of each other: at any moment, whenever the last one came. */
function keepAttacking(name: string, { perSecond, bytes }: Attack, lastAt: number): void {
  const nextAt = lastAt + (-Math.log(1 - Math.random()) * 1000) / perSecond;
  // From when the last one was due: by what a timer is late each time, fewer would come.
  setTimeout(() => {
    attack(name, bytes);
    keepAttacking(name, { perSecond, bytes }, nextAt);
  }, nextAt - performance.now());
}

function attack(name: string, pieces: readonly string[]): void {
  const socket = connect({ host: hostname, port: Number(port) }, () => {
    for (const piece of pieces) socket.write(piece);
  });
  socket.once("data", (data) => {
    const status = /^HTTP\/1\.1 (\d{3})/.exec(data.toString("latin1"))?.[1] ?? "no status";
    const key = `${name}: ${status}`;
    answered[key] = (answered[key] ?? 0) + 1;
  });
  socket.on("error", () => undefined);
  socket.setTimeout(5000, () => socket.destroy());
}

drip();
const openedFrom = Date.now();
for (let some = 0; some < SLOW;) {
  await sleep(OPEN_STEP_MS);
  const until = Math.min(1, (Date.now() - openedFrom) / OPEN_OVER_MS) * SLOW;
  for (; some < until; some++) openSlow();
}
while (slow.size < SLOW * 0.98) await sleep(OPEN_STEP_MS);
const attackedFrom = performance.now();
for (const [name, each] of Object.entries(ATTACKS)) keepAttacking(name, each, attackedFrom);
let counts = 0;
let counted = 0;
setInterval(() => {
  counts += 1;
  counted += slow.size;
}, COUNT_MS);
process.send?.("ready");
process.on("message", () => {
  const seconds = (performance.now() - attackedFrom) / 1000;
  process.send?.({ slow: counted / counts, seconds, answered });
});
// Its end is that of the bench, however that came.
process.on("disconnect", () => process.exit());
setTimeout(() => process.exit(), LONG_MS).unref();
