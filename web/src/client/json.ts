/** A JSON object with unchecked fields. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Parses a JSON object; `undefined` for other values and for malformed JSON. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** The value if it is an object, and neither an array nor `null`. */
export function asObject(value: unknown): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

/** The value if it is an array, otherwise an empty one. */
export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value if it is a non-empty string. */
export function asString(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The value if it is a finite number. */
export function asNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** `{ [key]: value }`, or `{}` for `undefined`, so that optional fields stay absent. */
export function optional<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return (value === undefined ? {} : { [key]: value }) as { [P in K]?: V };
}

// Decoders are built of the functions below, so that each names its fields once, and the compiler says which
// field of the type it lacks. They have no side effects, so bundles leave out decoders that they do not use.

/** Reads a value; `undefined` if it is missing or malformed. */
export type Decode<T> = (value: unknown) => T | undefined;

/** Given by a field without which its object is malformed. */
const MALFORMED = Symbol("malformed");

/** Reads a field that its object always has. */
type DecodeAlways<T> = (value: unknown) => T | typeof MALFORMED;

/** A decoder for each field of an object. Optional fields stay absent if they are missing or malformed. */
export type Fields<T> = {
  readonly [name in keyof T]-?: undefined extends T[name]
    ? (value: unknown) => NonNullable<T[name]> | typeof MALFORMED | undefined
    : DecodeAlways<T[name]>;
};

/** The value if it is an object that has these fields. */
export function readObject<T>(value: unknown, fields: Fields<T>): T | undefined {
  const json = asObject(value);
  if (!json) return undefined;
  const made: Record<string, unknown> = {};
  for (const [name, decode] of Object.entries<(value: unknown) => unknown>(fields)) {
    const field = decode(json[name]);
    if (field === MALFORMED) return undefined;
    if (field !== undefined) made[name] = field;
  }
  return made as T;
}

/** Reads a field without which its object is malformed. */
/* @__NO_SIDE_EFFECTS__ */
export function needed<T>(decode: Decode<T>): DecodeAlways<T> {
  return (value) => decode(value) ?? MALFORMED;
}

/** Reads an optional field that makes its object malformed if it is malformed itself. */
/* @__NO_SIDE_EFFECTS__ */
export function unlessMalformed<T>(decode: Decode<T>): (value: unknown) => T | typeof MALFORMED | undefined {
  return (value) => (value === undefined ? undefined : needed(decode)(value));
}

/** Reads a field that has a default. */
/* @__NO_SIDE_EFFECTS__ */
export function or<T>(decode: Decode<T>, otherwise: NoInfer<T>): (value: unknown) => T {
  return (value) => decode(value) ?? otherwise;
}

/** Reads an array without its malformed entries; `undefined` for other values. */
/* @__NO_SIDE_EFFECTS__ */
export function arrayOf<T>(decode: Decode<T>): Decode<readonly T[]> {
  return (value) => (Array.isArray(value) ? value.map(decode).filter((each) => each !== undefined) : undefined);
}

/** Reads an array without its malformed entries; other values give an empty one. */
/* @__NO_SIDE_EFFECTS__ */
export function list<T>(decode: Decode<T>): (value: unknown) => readonly T[] {
  return or(arrayOf(decode), []);
}

/** Reads one of these strings. */
/* @__NO_SIDE_EFFECTS__ */
export function oneOf<const T extends string>(...known: readonly T[]): Decode<T> {
  return (value) => known.find((each) => each === value);
}

/** The value if it is a whole number from 0. */
export function asCount(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
}

/** `true` if the value is; otherwise absent. */
export function ifTrue(value: unknown): true | undefined {
  return value === true || undefined;
}

/** Reads a flag that is off unless the value is `true`. */
export function isTrue(value: unknown): boolean {
  return value === true;
}

/** Reads a flag that is on unless the value is `false`. */
export function isNotFalse(value: unknown): boolean {
  return value !== false;
}
