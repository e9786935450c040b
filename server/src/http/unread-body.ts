import type { IncomingMessage, ServerResponse } from "node:http";
import { LINGER_MS } from "./hang-up.js";

/**
 * Answers a request whose body was not read, and ends the connection, but not while the sender is in the middle of it: a
 * socket that is closed with bytes unread is reset, and the reset takes back the reply that was just sent. What still
 * comes is read and dropped. `head` is a list of names and values in turn.
 */
export function answerUnread(
  request: IncomingMessage,
  response: ServerResponse,
  { status, head }: { readonly status: number; readonly head: readonly string[] },
): void {
  closeInHalves(request);
  response.writeHead(status, [...head, "content-length", "0", "connection", "close"]);
  response.end();
}

// Node destroys the socket once its last answer is written. Here our half is closed first: a sender that looks is done at
// once, and nothing of it stays in memory until its time is over.
function closeInHalves(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  const { socket } = request;
  socket.destroySoon = () => {
    // From now on the socket's own is found again.
    Reflect.deleteProperty(socket, "destroySoon");
    socket.end();
    const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
    request.once("close", () => {
      clearTimeout(timer);
      socket.destroySoon();
    });
  };
}
