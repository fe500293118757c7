import { apiUrl, type ChatClientOptions, sendWithoutReply } from "../../client/request.js";

/** Time that counts are collected before they are sent together. */
const SEND_AFTER_MS = 10_000;
/** The most that the server takes of anything at once. */
const MAX_COUNT = 1000;

/** Elements that show a passage or its document when they are clicked. */
const OPENS = [
  "[data-role=marker]",
  "[data-role=card-show]",
  "[data-role=source]:not([open]) > summary",
  "[data-role=source-link]",
  "[data-role=source-download]",
].join();
const COPIES = "[data-role=copy], [data-role=copy-markdown]";

/** Logs of conversations that are counted already. */
const counted = new WeakSet<HTMLElement>();

/**
 * Counts how often citations in this log are looked at (their card opens), opened and copied, for the insights of the site's owner.
 * Sends numbers only: no text, no document. What cannot be sent is lost, because a repeat could count twice.
 */
export function countCitationUse(log: HTMLElement, client: () => ChatClientOptions): void {
  if (counted.has(log)) return;
  counted.add(log);
  const none = () => ({ hovered: 0, opened: 0, copied: 0 });
  let counts = none();
  let timer: ReturnType<typeof setTimeout> | undefined;

  const flush = (keepalive: boolean) => {
    clearTimeout(timer);
    timer = undefined;
    removeEventListener("pagehide", leave);
    const body = counts;
    counts = none();
    const options = { ...client(), keepalive };
    const url = apiUrl(options.endpoint, "citation-use", { assistant: options.assistant });
    sendWithoutReply({ url, method: "POST", body }, options).catch(() => undefined);
  };
  const leave = () => flush(true);
  const add = (what: keyof typeof counts) => {
    counts[what] = Math.min(counts[what] + 1, MAX_COUNT);
    timer ??= setTimeout(() => flush(false), SEND_AFTER_MS);
    // Only while there is something to send: the listener keeps the widget.
    addEventListener("pagehide", leave);
  };

  // Does not bubble.
  log.addEventListener("toggle", (event) => isOpenedCard(event) && add("hovered"), true);
  log.addEventListener("click", ({ target }) => {
    if (!(target instanceof Element)) return;
    if (target.closest(OPENS)) add("opened");
    else if (target.closest(COPIES)) add("copied");
  });
}

function isOpenedCard(event: Event): boolean {
  const { target } = event;
  return (
    target instanceof HTMLElement &&
    target.dataset.role === "citation-card" &&
    (event as ToggleEvent).newState === "open"
  );
}
