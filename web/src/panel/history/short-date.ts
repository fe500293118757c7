import { Translated, type Translator } from "../../dom/translator.js";

/** A moment as briefly as a list of conversations needs it, in the widget's language. */
export class ShortDate extends Translated {
  readonly #moment: Date;

  constructor(translator: Translator, moment: Date) {
    // The key is of no use here: the words come from the browser.
    super(translator, "history", {});
    this.#moment = moment;
  }

  override toString(): string {
    return shortDate(this.#moment, new Date(), this.translator.language);
  }
}

/**
 * "5 minutes ago", "yesterday", "3 days ago", "12 Nov" or "12 Nov 2024", as the language writes it; empty for an invalid
 * date. Clocks that disagree never make a conversation come from the future.
 */
export function shortDate(moment: Date, now: Date, language: string): string {
  const milliseconds = now.getTime() - moment.getTime();
  if (Number.isNaN(milliseconds)) return "";
  const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
  const minutes = Math.max(0, Math.floor(milliseconds / 60_000));
  const days = daysBetween(moment, now);
  if (minutes < 1) return relative.format(0, "second");
  if (minutes < 60) return relative.format(-minutes, "minute");
  if (days < 1) return relative.format(-Math.floor(minutes / 60), "hour");
  if (days < 7) return relative.format(-days, "day");
  const format: Intl.DateTimeFormatOptions = { day: "numeric", month: "short" };
  if (moment.getFullYear() !== now.getFullYear()) format.year = "numeric";
  return new Intl.DateTimeFormat(language, format).format(moment);
}

/** Midnights of the visitor's time zone between two moments; days with a change of the clock have other lengths. */
function daysBetween(from: Date, to: Date): number {
  const midnight = (date: Date) => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
  return Math.round((midnight(to) - midnight(from)) / 86_400_000);
}
