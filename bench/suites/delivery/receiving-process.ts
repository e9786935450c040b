// The receiver of every case, in a process of its own: on the loop of the measured process it would take its time.
import { createServer } from "node:http";

let received = 0;

const server = createServer((request, response) => {
  request.resume();
  request.once("end", () => {
    received += 1;
    response.end();
  });
});
// Between the turns of one case lie those of all others; its connections stay open that long.
server.keepAliveTimeout = 600_000;
server.listen(0, "127.0.0.1", 1024, () => {
  const address = server.address();
  process.send?.({ port: typeof address === "object" ? address?.port : undefined });
});
process.on("message", () => process.send?.({ received }));
// Its end is that of the bench, however that came.
process.on("disconnect", () => process.exit());
