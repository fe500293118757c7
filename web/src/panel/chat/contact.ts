import { safeLink } from "../../client/safe-url.js";
import { element, icon } from "../../dom/element.js";
import * as icons from "../../dom/icons.js";
import type { PanelHost } from "../host.js";

/** Longer questions are cut, because some programs reject long addresses. */
const MAX_QUESTION_LENGTH = 400;

/** Stands for the question in the address of a page. */
const PLACEHOLDER = "{question}";

/** A question that people are to be asked. */
export interface UnansweredQuestion {
  readonly question: string;
  readonly sessionId: string | undefined;
}

/**
 * A link to people, or `undefined` without an address: that of the page's attribute `support-url`, or else the server's. A page that
 * handles the event `contact` itself prevents its default.
 */
export function contactLink(
  { element: host, translator, dispatch }: PanelHost,
  asked: UnansweredQuestion,
  serverUrl: string | undefined,
): HTMLAnchorElement | undefined {
  const url = host.getAttribute("support-url") ?? serverUrl;
  const isPlace = url?.startsWith("#") === true;
  const href = isPlace
    ? new URL(url, document.baseURI).href
    : contactAddress(url, asked.question, translator.format("contactSubject"));
  if (href === undefined) return undefined;
  const link = element(
    "a",
    {
      class: "button",
      part: "suggestion",
      "data-role": "contact",
      href,
      ...(!isPlace && { target: "_blank", rel: "noopener noreferrer" }),
    },
    translator.t("contactSupport"),
    isPlace ? undefined : icon(icons.external),
  );
  link.addEventListener("click", (event) => {
    if (!dispatch("contact", asked)) event.preventDefault();
  });
  return link;
}

/**
 * The address with the question in it: in a page's at `{question}`, in a mail as its text, after RFC 6068. `undefined` if it is no web
 * page and no mail address, or if the question would decide which server it leads to.
 */
export function contactAddress(url: string | undefined, question: string, subject: string): string | undefined {
  const filled = (words: string) => safeLink(url?.replaceAll(PLACEHOLDER, words));
  const address = filled(encoded(question.replace(/\s+/gu, " ")));
  const unfilled = filled("");
  if (!address || !unfilled || new URL(address).origin !== new URL(unfilled).origin) return undefined;
  if (!address.startsWith("mailto:")) return address;
  const mail = new URL(address);
  const names = Array.from(mail.searchParams.keys(), (name) => name.toLowerCase());
  const fields = mail.search === "" ? [] : [mail.search.slice(1)];
  if (!names.includes("subject")) fields.push(`subject=${encoded(subject)}`);
  if (!names.includes("body")) fields.push(`body=${encoded(question.replace(/\r\n?|\n/gu, "\r\n"))}`);
  mail.search = fields.join("&");
  mail.hash = "";
  return mail.href;
}

/** Percent-encoded, without lone surrogates, and cut to {@link MAX_QUESTION_LENGTH}. */
function encoded(text: string): string {
  const characters = Array.from(text.trim().replace(/\p{Surrogate}/gu, "\uFFFD"));
  const isCut = characters.length > MAX_QUESTION_LENGTH;
  return encodeURIComponent(isCut ? characters.slice(0, MAX_QUESTION_LENGTH - 1).join("") + "…" : characters.join(""));
}
