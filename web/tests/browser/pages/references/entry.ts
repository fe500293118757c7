// A page with two export menus, like that of two answers.
import type { Citation } from "../../../../src/client/wire.js";
import { adoptStyles } from "../../../../src/dom/styles.js";
import { Translator } from "../../../../src/dom/translator.js";
import controlsCss from "../../../../src/element/controls.css";
import frameCss from "../../../../src/element/frame.css";
import panelCss from "../../../../src/panel/panel.css";
import { exportMenu } from "../../../../src/panel/references/export-menu.js";
import { launcher, panel } from "../../../../src/texts/en.js";

const translator = new Translator();
translator.use("en", { ...launcher, ...panel });

const shadow = document.body.appendChild(document.createElement("main")).attachShadow({ mode: "open" });
adoptStyles(shadow, frameCss);
adoptStyles(shadow, controlsCss);
adoptStyles(shadow, panelCss);
shadow.append(
  exportMenu({ shadow, translator }, () => (window as unknown as { citations: readonly Citation[] }).citations),
  exportMenu({ shadow, translator }, () => []),
);
