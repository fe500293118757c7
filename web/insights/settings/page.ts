import { button, element } from "../../src/dom/element.js";
import { type CallDatabase, RejectedError } from "../data.js";
import { announce, ask, confirm, notice, reasonOf, type Shown } from "../page.js";
import type { AllSettings, AssistantRow } from "./data.js";
import { ASSISTANT_GROUPS, GENERAL_GROUPS } from "./fields.js";
import { type SettingsForm, settingsForm, type Store } from "./form.js";

/** The value of the picker for the settings of all assistants. */
const GENERAL = "";

/** Shows the settings in `content` until it is stopped. */
export function showSettings(content: HTMLElement, call: CallDatabase): Shown {
  let all: AllSettings;
  let form: SettingsForm | undefined;
  let isStopped = false;
  let chosen = "default";

  const isDirty = () => form?.isDirty() ?? false;
  const mayLeave = () =>
    isDirty()
      ? confirm("Leave without saving?", ["Your changes are not saved."], "Leave without saving", "Stay")
      : Promise.resolve(true);
  const picker = element("select", { id: "settings-of" });
  const place = element("div", { class: "settings-part" });

  const readAll = async (): Promise<AllSettings> => {
    const read = await call<AllSettings>("chat_read_settings");
    if (!isStopped) {
      all = read;
      fillPicker();
    }
    return read;
  };
  const fillPicker = () => {
    const label = ({ name, title, enabled }: AssistantRow) =>
      `${title === null ? name : `${title} (${name})`}${enabled ? "" : " – disabled"}`;
    picker.replaceChildren(
      element("option", { value: GENERAL }, "All assistants"),
      ...all.assistants.map((row) => element("option", { value: row.name }, label(row))),
    );
    picker.value = chosen;
  };
  const choose = (name: string) => {
    chosen = name;
    picker.value = name;
    showChosen();
  };

  const showChosen = () => {
    form = undefined;
    const row = all.assistants.find(({ name }) => name === chosen);
    if (chosen !== GENERAL && row) showAssistant(row);
    else showGeneral();
  };

  const showGeneral = () => {
    const row = all.settings;
    if (!row) {
      const text = "The table chat_settings has no row. The owner of the project can add it: ";
      place.replaceChildren(notice(text, element("code", {}, "insert into chat_settings default values;")));
      return;
    }
    const store: Store = {
      read: async () => (await readAll()).settings ?? undefined,
      save: (changes, { updated_at }) => call("chat_update_settings", { changes, expected_updated_at: updated_at }),
    };
    const alerts = row.has_alert_url ? undefined : "The owner has not set a webhook (alert_url), so no alert is sent.";
    form = settingsForm(GENERAL_GROUPS, row, store, new Map([["Alerts", element("p", { class: "detail" }, alerts)]]));
    place.replaceChildren(form.node, ownersPart());
  };

  const showAssistant = (row: AssistantRow) => {
    const { name } = row;
    const store: Store = {
      read: async () => (await readAll()).assistants.find((other) => other.name === name),
      save: (changes, { updated_at }) =>
        call("chat_update_assistant", { assistant: name, changes, expected_updated_at: updated_at }),
    };
    form = settingsForm(ASSISTANT_GROUPS, row, store);
    place.replaceChildren(form.node, deletePart(row));
  };

  /** Reads the settings after a change; says so if only this fails. */
  const readAgain = async (done: string) => {
    try {
      await readAll();
      return true;
    } catch (error) {
      place.replaceChildren(
        notice(`${done} The settings could not be read again: ${reasonOf(error)} Reload the page.`),
      );
      return false;
    }
  };

  const deletePart = ({ name, has_conversations: hasConversations }: AssistantRow) => {
    const message = element("p", { class: "error", role: "alert" });
    const reason =
      name === "default"
        ? "It answers where a page names no assistant, so it can be disabled and not deleted."
        : hasConversations
          ? "It has conversations or refused questions, so it can be disabled and not deleted."
          : undefined;
    const remove = async () => {
      const saved = all.assistants.find((row) => row.name === name);
      const text = [`Pages that name “${name}” stop answering. Its figures in the insights are deleted as well.`];
      if (!saved || !(await confirm(`Delete the assistant ${name}?`, text, "Delete"))) return;
      try {
        await call("chat_delete_assistant", { assistant: name, expected_updated_at: saved.updated_at });
      } catch (error) {
        message.textContent = `Not deleted: ${reasonOf(error)}`;
        return;
      }
      if (!(await readAgain(`Deleted ${name}.`))) return;
      choose("default");
      announce(`Deleted ${name}.`);
      picker.focus();
    };
    return element(
      "section",
      { class: "card" },
      element("h2", {}, "Delete"),
      reason === undefined
        ? element(
            "div",
            { class: "actions" },
            button({ class: "danger" }, () => void remove(), "Delete this assistant"),
          )
        : element("p", { class: "detail" }, reason),
      message,
    );
  };

  const add = async () => {
    if (!(await mayLeave())) return;
    const name = await askForAssistant(async (asked) => {
      try {
        // Disabled, so that nobody uses it before its settings are right.
        await call("chat_add_assistant", { assistant: asked, changes: { enabled: false } });
        return undefined;
      } catch (error) {
        return error instanceof RejectedError ? (error.problems.name ?? error.message) : reasonOf(error);
      }
    });
    if (name === undefined) return;
    if (!(await readAgain(`Added ${name}.`))) return;
    choose(name);
    announce(`Added ${name}. It is disabled until you enable it.`);
    picker.focus();
  };

  picker.addEventListener("change", () => {
    const to = picker.value;
    picker.value = chosen;
    void mayLeave().then((leaves) => {
      if (leaves) choose(to);
    });
  });

  content.replaceChildren(
    element(
      "div",
      { class: "head" },
      element("h1", {}, "Settings"),
      element(
        "div",
        { class: "scope" },
        element("div", { class: "field" }, element("label", { for: picker.id }, "Settings of"), picker),
        button({}, () => void add(), "Add an assistant"),
      ),
    ),
    element("p", { class: "detail" }, "Changes take effect within a minute."),
    place,
  );
  const load = async () => {
    place.replaceChildren(notice("Loading…"));
    try {
      await readAll();
      if (!isStopped) showChosen();
    } catch (error) {
      if (isStopped) return;
      const again = button({}, () => void load(), "Try again");
      place.replaceChildren(
        element("p", { class: "notice error" }, `This could not be read: ${reasonOf(error)} `, again),
      );
      announce("The settings could not be read.");
    }
  };
  void load();
  return {
    stop: () => {
      isStopped = true;
    },
    mayLeave,
    isDirty,
  };
}

function ownersPart(): HTMLElement {
  const columns: readonly (readonly [string, string])[] = [
    ["administrators", "who may open these pages"],
    ["default_audience", "who sees documents without an audience of their own"],
    ["alert_url", "where alerts are sent"],
    ["log_questions", "whether questions are logged"],
  ];
  return element(
    "section",
    { class: "card" },
    element("h2", {}, "Only for the owner"),
    element("p", {}, "These settings can only be changed in the Supabase dashboard, in the table chat_settings:"),
    element("ul", {}, ...columns.map(([name, text]) => element("li", {}, element("code", {}, name), `: ${text}`))),
  );
}

/**
 * Asks for the name of a new assistant. `add` returns what is wrong with it. Returns undefined if the reader does not want one any
 * more.
 */
function askForAssistant(add: (name: string) => Promise<string | undefined>): Promise<string | undefined> {
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
