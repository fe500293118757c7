// The model in the cache of the browser.

/** Whether the whole model is there; the parts of its download (`FINGERPRINT/part?…`) do not count. */
export const isModelCached = (page) =>
  page.evaluate(async () => {
    const keys = await (await caches.open("evidence-chat-embedder")).keys();
    return keys.some(({ url }) => !url.includes("/part?"));
  });
