/** The durations of a Server-Timing header in milliseconds, by name; entries without one are left out. */
export function parseServerTiming(header: string | null): Readonly<Record<string, number>> {
  const durations = (header ?? "").split(",").flatMap((entry) => {
    const [, name, duration] = /^\s*([^\s;="]+)\s*;(?:.*;)?\s*dur\s*=\s*"?(\d+(?:\.\d+)?)/i.exec(entry) ?? [];
    return name === undefined ? [] : [[name, Number(duration)] as const];
  });
  return Object.fromEntries(durations);
}
