// Answers requests of a known length without looking at them: how fast the generator can be.
import { createServer } from "node:net";

const requestBytes = Number(process.argv[2]);
const ANSWER = "HTTP/1.1 204 No Content\r\n\r\n";

const server = createServer({ noDelay: true }, (socket) => {
  let pending = 0;
  socket.on("data", (chunk) => {
    pending += chunk.length;
    const whole = Math.floor(pending / requestBytes);
    pending -= whole * requestBytes;
    if (whole > 0) socket.write(ANSWER.repeat(whole));
  });
  socket.on("error", () => socket.destroy());
});
server.listen(0, "127.0.0.1", 1024, () => {
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  process.stdout.write(`ready at http://127.0.0.1:${port}\n`);
});
