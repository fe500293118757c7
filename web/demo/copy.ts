import type { PageLanguage } from "./language.js";

const SHOWN_MS = 2000;

/** Makes a button copy a text and confirm it for two seconds. */
export function copyOnClick(button: HTMLButtonElement, language: PageLanguage, text: () => string): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const rest = () => (button.textContent = language.say("copy"));
  const copy = async () => {
    const copied = await navigator.clipboard.writeText(text()).then(
      () => true,
      () => false,
    );
    button.textContent = language.say(copied ? "copied" : "copyFailed");
    clearTimeout(timer);
    timer = setTimeout(rest, SHOWN_MS);
  };
  button.addEventListener("click", () => void copy());
  language.onChange(rest);
  rest();
}
