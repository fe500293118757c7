import type { Passage } from "../../client/wire.js";
import { withoutBidiControls } from "../../dom/bidi.js";
import type { Translated, Translator } from "../../dom/translator.js";

/** What servers call a document without a name. */
const UNKNOWN = "Unknown document";

/** The name of a document, in the widget's language if it has none of its own. */
export function titleOf({ title }: Passage, { t }: Translator): string | Translated {
  const name = withoutBidiControls(title).trim();
  return name === "" || name === UNKNOWN ? t("unknownDocument") : name;
}
