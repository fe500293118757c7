import { button, element } from "../../src/dom/element.js";
import { ask } from "../dialog.js";

/**
 * Asks for the name of a new assistant. `add` returns what is wrong with it. Returns undefined if the reader does not want one any
 * more.
 */
export function askForAssistant(add: (name: string) => Promise<string | undefined>): Promise<string | undefined> {
  return ask<string>("Add an assistant", (close) => {
    const input = element("input", { id: "new-assistant", type: "text", maxlength: 63, autocomplete: "off" });
    const help = element(
      "p",
      { class: "detail", id: "new-assistant-help" },
      'As in <evidence-chat assistant="shop">: 1 to 63 lower-case letters, digits and hyphens. It cannot be changed later.',
    );
    const problem = element("p", { class: "error", id: "new-assistant-problem", role: "alert" });
    input.setAttribute("aria-describedby", `${help.id} ${problem.id}`);
    input.spellcheck = false;
    let isBusy = false;
    const submit = async () => {
      if (isBusy) return;
      isBusy = true;
      problem.textContent = "";
      const name = input.value.trim();
      const wrong = await add(name);
      isBusy = false;
      if (wrong === undefined) {
        close(name);
        return;
      }
      problem.textContent = `Not added: ${wrong}.`;
      input.focus();
    };
    const form = element(
      "form",
      { id: "add-assistant" },
      element("label", { for: input.id }, "Name"),
      input,
      help,
      problem,
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void submit();
    });
    return {
      body: [form],
      actions: [button({}, () => close(""), "Cancel"), button({ class: "primary" }, () => void submit(), "Add")],
    };
  }).then((name) => name || undefined);
}
