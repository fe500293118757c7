// Values of WebDriver BiDi.

/** An expression for a value that Playwright sends. */
export function expression(value) {
  const handle = value.handle ?? value.sharedId;
  if (handle !== undefined) return `bridge.get(${JSON.stringify(handle)})`;
  switch (value.type) {
    case "undefined":
    case "null":
      return value.type;
    case "string":
      return JSON.stringify(value.value);
    case "number":
    case "boolean":
      return String(value.value);
    case "bigint":
      return `${value.value}n`;
    case "array":
      return `[${value.value.map(expression).join(", ")}]`;
    case "object":
      return `({${value.value.map(([name, field]) => `[${key(name)}]: ${expression(field)}`).join(", ")}})`;
    case "regexp":
      return `new RegExp(${JSON.stringify(value.value.pattern)}, ${JSON.stringify(value.value.flags ?? "")})`;
    case "date":
      return `new Date(${JSON.stringify(value.value)})`;
    case "channel":
      return `((data) => globalThis[Symbol.for("webdriver bridge")].message(${JSON.stringify(value.value.channel)}, data))`;
  }
  throw new Error(`no expression for ${JSON.stringify(value)}`);
}

function key(name) {
  return typeof name === "string" ? JSON.stringify(name) : expression(name);
}

/** A value as the page script encodes it, as BiDi describes it. */
export function remoteValue(value, context) {
  if (value.json !== undefined) return fromJson(JSON.parse(value.json));
  return value.type === "window" ? { ...value, value: { context } } : value;
}

function fromJson(value) {
  if (value === null) return { type: "null" };
  if (Array.isArray(value)) return { type: "array", value: value.map(fromJson) };
  if (typeof value !== "object") return { type: typeof value, value };
  return { type: "object", value: Object.entries(value).map(([name, field]) => [name, fromJson(field)]) };
}
