// The model in the cache of the browser.

/** Whether the whole model is there; the parts of its download (`FINGERPRINT/part?…`) do not count. */
export const isModelCached = (page, files = 1) =>
  page.evaluate(async (count) => {
    const keys = await (await caches.open("evidence-chat-embedder")).keys();
    return keys.filter(({ url }) => !url.includes("/part?")).length >= count;
  }, files);
