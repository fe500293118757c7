// WebKit as Playwright's persistent context.
import { firefox } from "../playwright.mjs";
import { bidiFirefox } from "../playwright-bidi.mjs";
import { BidiTransport } from "./bidi.mjs";
import { BRIDGE } from "./page-script.mjs";
import { activatePreload, preloadScripts } from "./preload.mjs";

/** Opens a persistent context of WebKitGTK's MiniBrowser, as `chromium.launchPersistentContext` does of Chromium. */
export async function launchWebKit(profile, { args: _, ...options }) {
  activatePreload();
  preloadScripts.set("bridge", `${BRIDGE};`);
  const transport = await BidiTransport.open(profile, options);
  // Playwright's own class for Firefox speaks BiDi; only the program that it starts is another.
  const { _launchProcess: launchProcess } = bidiFirefox;
  bidiFirefox._launchProcess = async () => {
    const close = () => transport.close();
    const browserProcess = { onclose: undefined, process: undefined, close, kill: close };
    return { browserProcess, userDataDir: profile, artifactsDir: profile, transport, wsEndpoint: undefined };
  };
  try {
    return await firefox.launchPersistentContext(profile, { channel: "moz-firefox", headless: true, ...options });
  } finally {
    bidiFirefox._launchProcess = launchProcess;
  }
}
