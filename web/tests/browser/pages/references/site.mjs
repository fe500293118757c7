// The page of entry.ts: two export menus.
import { startPageSite } from "../../support/page-site.mjs";

export function startReferencesSite() {
  return startPageSite(new URL("entry.ts", import.meta.url), {
    html: '<!doctype html><html lang="en"><title>references</title>',
    policy: "style-src 'self'",
  });
}
