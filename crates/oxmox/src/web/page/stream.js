// What the server tells without being asked.

import { get } from "./api.js";

const AGAIN = 3000; // milliseconds

/// Listens at an address until the function that it returns is called: `heard` has what to do with each kind of event, and may have
/// `away`, for when nothing is heard until it was tried again.
export function listenTo(path, { away, ...heard }) {
  let goes = true;
  let stream;
  let timer;

  function open() {
    stream = new EventSource(path);
    for (const [kind, then] of Object.entries(heard)) stream.addEventListener(kind, ({ data }) => then(JSON.parse(data)));
    stream.addEventListener("error", () => {
      if (!goes) return;
      away?.();
      // A browser comes back by itself to a stream that broke off, but not to one that was refused.
      if (stream.readyState === EventSource.CLOSED) timer = setTimeout(again, AGAIN);
    });
  }

  async function again() {
    // Who is signed out meanwhile is told so by this.
    try { await get("me"); } catch (error) { if (error.status === 401) return; }
    if (goes) open();
  }

  open();
  return () => { goes = false; clearTimeout(timer); stream.close(); };
}
