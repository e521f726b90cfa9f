import { connect } from "node:http2";

/** Returns the address of the engine that started this process as its provider host; undefined in any other process. */
export function engineAddress([, script = "", address = ""]: readonly string[]): string | undefined {
  const isHost = /[\\/]cmd[\\/]dynamic-provider(?:[\\/]|$)/.test(script);
  return isHost && /^\S+:[1-9]\d*$/.test(address) ? address : undefined;
}

/**
 * Calls `end` when the engine is gone. An engine that is killed tells its provider host nothing: that would go on to
 * create rules of which no state will know, beside the next run. So one HTTP/2 session is held to the engine, which says
 * when it closes; a bare socket the engine would close by itself after two minutes. An engine that never answered is none.
 */
export function endWithEngine(address: string, end: () => void, wasThere = false): void {
  let isThere = false;
  let isAsked = false;
  const session = connect(`http://${address}`);
  session.unref();
  session.on("connect", () => {
    isThere = true;
  });
  // The engine asks to leave this session: it may go on without it.
  session.on("goaway", () => {
    isAsked = true;
  });
  // An error is followed by the end of the session.
  session.on("error", () => undefined);
  session.on("close", () => {
    if (isThere && isAsked) endWithEngine(address, end, true);
    else if (isThere || wasThere) end();
  });
}
