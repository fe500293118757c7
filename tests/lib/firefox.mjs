// Firefox through WebDriver BiDi, which playwright-core speaks for its channel `moz-firefox`.
import { firefox } from "playwright-core";
import { bidiFirefox } from "./playwright-bidi.mjs";

/** Commands of BiDi that Playwright sends and Firefox ESR does not have. Only tests of colour schemes need them. */
const UNKNOWN_COMMANDS = new Set(["emulation.setMediaFeaturesOverride"]);

const PREFERENCES = {
  // Requests of its own: many pages of the tests forbid all images, and then Firefox reports that it did not load the icon.
  "browser.chrome.site_icons": false,
  // Resolves to this machine, as a Chromium option does.
  "network.dns.localDomains": "insecure.test",
};

/** Opens a persistent context of Firefox, as `chromium.launchPersistentContext` does of Chromium. */
export async function launchFirefox(profile, { args: _, ...options }) {
  answerUnknownCommands();
  return firefox.launchPersistentContext(profile, {
    channel: "moz-firefox",
    executablePath: process.env.FIREFOX_PATH,
    headless: true,
    firefoxUserPrefs: PREFERENCES,
    ...options,
  });
}

let isPatched = false;

/** Playwright sends these commands to every new page, and gives up if Firefox does not know one. */
function answerUnknownCommands() {
  if (isPatched) return;
  isPatched = true;
  const connect = bidiFirefox.connectToTransport;
  bidiFirefox.connectToTransport = function (transport, ...rest) {
    const send = transport.send.bind(transport);
    transport.send = (message) => {
      if (!UNKNOWN_COMMANDS.has(message.method)) return send(message);
      queueMicrotask(() => transport.onmessage({ type: "success", id: message.id, result: {} }));
    };
    return connect.call(this, transport, ...rest);
  };
}
