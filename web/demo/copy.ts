const SHOWN_MS = 2000;

/** Makes a button copy a text and confirm it for two seconds. */
export function copyOnClick(button: HTMLButtonElement, text: () => string): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const copy = async () => {
    button.textContent = await navigator.clipboard.writeText(text()).then(
      () => "Copied",
      () => "Could not copy",
    );
    clearTimeout(timer);
    timer = setTimeout(() => (button.textContent = "Copy"), SHOWN_MS);
  };
  button.addEventListener("click", () => void copy());
}
