/**
 * Reads ahead of its consumer, so that nothing that has arrived is lost when the source fails while an earlier item is being handled.
 * To end it early, end the source.
 */
export async function* readAhead<T>(source: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
  const items: T[] = [];
  const reader = { isReading: true, changed: () => {} };
  const read = async () => {
    try {
      for await (const item of source) {
        items.push(item);
        reader.changed();
      }
    } finally {
      reader.isReading = false;
      reader.changed();
    }
  };
  const end = read();
  // It is thrown below, which may be later.
  end.catch(() => {});
  while (reader.isReading || items.length > 0) {
    yield* items.splice(0);
    if (reader.isReading && items.length === 0) await new Promise<void>((resolve) => (reader.changed = resolve));
  }
  await end;
}
