// Firefox through WebDriver BiDi, which playwright-core speaks for its channel `moz-firefox`.
import { firefox } from "./playwright.mjs";
import { bidiFirefox } from "./playwright-bidi.mjs";

/** Commands of BiDi that Playwright sends and that some versions of Firefox do not know. No test of Firefox needs what they do. */
const OPTIONAL = new Set(["emulation.setMediaFeaturesOverride", "network.addDataCollector"]);

const PREFERENCES = {
  // Requests of its own: many pages of the tests forbid all images, and then Firefox reports that it did not load the icon.
  "browser.chrome.site_icons": false,
  // Resolves to this machine, as a Chromium option does.
  "network.dns.localDomains": "insecure.test",
  // Reads the clipboard without asking.
  "dom.events.testing.asyncClipboard": true,
};

/** Opens a persistent context of Firefox, as `chromium.launchPersistentContext` does of Chromium. */
export async function launchFirefox(profile, { args: _, ...options }) {
  tolerateUnknownCommands();
  return firefox.launchPersistentContext(profile, {
    channel: "moz-firefox",
    executablePath: process.env.FIREFOX_PATH,
    headless: true,
    firefoxUserPrefs: { ...PREFERENCES, "ui.prefersReducedMotion": options.reducedMotion === "reduce" ? 1 : 0 },
    ...options,
  });
}

let isPatched = false;

/** Playwright sends the optional commands to every new page, and gives up if Firefox does not know one. */
function tolerateUnknownCommands() {
  if (isPatched) return;
  isPatched = true;
  const connect = bidiFirefox.connectToTransport;
  bidiFirefox.connectToTransport = function (transport, ...rest) {
    const sent = new Set();
    const send = transport.send.bind(transport);
    transport.send = (message) => {
      if (OPTIONAL.has(message.method)) sent.add(message.id);
      return send(message);
    };
    const connected = connect.call(this, transport, ...rest);
    const receive = transport.onmessage;
    transport.onmessage = (message) => {
      const isMissing = sent.delete(message.id) && message.error === "unknown command";
      return receive.call(transport, isMissing ? { type: "success", id: message.id, result: {} } : message);
    };
    return connected;
  };
}
