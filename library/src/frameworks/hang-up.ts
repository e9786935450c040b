import type { IncomingMessage } from "node:http";
import { hasBody } from "./node-body.js";

/** How long a refused sender may go on with a body that nobody will read. */
const LINGER_MS = 1000;

/**
 * Ends the connection of a refused request together with its response, where the sender may still be sending. True then,
 * and the response has to say `connection: close`.
 *
 * As soon as the response is written, our half is closed, so that the sender sees the end at once; what still comes is
 * dropped for at most a second. A socket that is closed with bytes unread is reset, and the reset takes back the reply that
 * was just sent.
 */
export function hangUp(request: IncomingMessage): boolean {
  // The socket of HTTP/2 belongs to all requests of its session.
  if (request.complete || request.destroyed || !hasBody(request) || request.httpVersionMajor > 1)
    return false;
  const { socket } = request;
  // Called by Node once the last answer of the connection is written.
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
  return true;
}
