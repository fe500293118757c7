import { button, element } from "../../src/dom/element.js";
import { confirm } from "../dialog.js";
import { announce, type Shown } from "../page.js";
import { askForAssistant } from "./add.js";
import { type Administration, type AllSettings, type AssistantRow, RejectedError } from "./data.js";
import { ASSISTANT_GROUPS, GENERAL_GROUPS } from "./fields.js";
import { type SettingsForm, settingsForm, type Store } from "./form.js";

/** The value of the picker for the settings of all assistants. */
const GENERAL = "";

/** Shows the settings in `content` until it is stopped. */
export function showSettings(content: HTMLElement, administration: Administration): Shown {
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
    const read = await administration.read();
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
      const notice = "The table chat_settings has no row. The owner of the project can add it: ";
      place.replaceChildren(
        element("p", { class: "notice" }, notice, element("code", {}, "insert into chat_settings default values;")),
      );
      return;
    }
    const store: Store = {
      read: async () => (await readAll()).settings ?? undefined,
      save: (changes, base) => administration.updateSettings(changes, base),
    };
    const alerts = row.has_alert_url ? undefined : "The owner has not set a webhook (alert_url), so no alert is sent.";
    form = settingsForm(GENERAL_GROUPS, row, store, new Map([["Alerts", element("p", { class: "detail" }, alerts)]]));
    place.replaceChildren(form.node, ownersPart());
  };

  const showAssistant = (row: AssistantRow) => {
    const { name } = row;
    const store: Store = {
      read: async () => (await readAll()).assistants.find((other) => other.name === name),
      save: (changes, base) => administration.updateAssistant(name, changes, base),
    };
    form = settingsForm(ASSISTANT_GROUPS, row, store);
    place.replaceChildren(form.node, deletePart(row));
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
        await administration.deleteAssistant(saved);
        await readAll();
        choose("default");
        announce(`Deleted ${name}.`);
        picker.focus();
      } catch (error) {
        message.textContent = `Not deleted: ${sentence(error)}`;
      }
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
        await administration.addAssistant(asked, { enabled: false });
        return undefined;
      } catch (error) {
        return error instanceof RejectedError ? (error.problems.name ?? error.message) : sentence(error);
      }
    });
    if (name === undefined) return;
    await readAll();
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
    place.replaceChildren(element("p", { class: "notice" }, "Loading…"));
    try {
      await readAll();
      if (!isStopped) showChosen();
    } catch (error) {
      if (isStopped) return;
      const again = button({}, () => void load(), "Try again");
      place.replaceChildren(
        element("p", { class: "notice error" }, `This could not be read: ${sentence(error)} `, again),
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

function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
