// Rows in PostgreSQL's binary COPY format, which takes a quarter of the size of the text form for vectors.
// https://www.postgresql.org/docs/current/sql-copy.html, "Binary Format"

export const HEADER = Buffer.concat([Buffer.from("PGCOPY\n\xff\r\n\0", "latin1"), Buffer.alloc(8)]);
export const TRAILER = Buffer.from([0xff, 0xff]);

/** @param {(Buffer | null)[]} fields */
export function row(fields) {
  /** @type {Buffer[]} */
  const parts = [int16(fields.length)];
  for (const field of fields) {
    if (field === null) parts.push(int32(-1));
    else parts.push(int32(field.length), field);
  }
  return Buffer.concat(parts);
}

export const uuid = (text) => Buffer.from(text.replaceAll("-", ""), "hex");
export const text = (value) => Buffer.from(value, "utf8");

export function int32(value) {
  const buffer = Buffer.alloc(4);
  buffer.writeInt32BE(value);
  return buffer;
}

/** A list of texts, or null. */
export function textArray(values) {
  if (values === null) return null;
  const TEXT_TYPE = 25;
  const header = [1, 0, TEXT_TYPE, values.length, 1].map(int32);
  return Buffer.concat([...header, ...values.flatMap((value) => [int32(Buffer.byteLength(value)), text(value)])]);
}

export const boolean = (value) => Buffer.from([value ? 1 : 0]);

/** pgvector's vector: dimensions, an unused word, 4-byte floats. */
export function vector(values) {
  const numbers = Buffer.from(Float32Array.from(values).buffer);
  return Buffer.concat([dimensions(values), numbers.swap32()]);
}

/** pgvector's halfvec: the same with 2-byte floats. */
export function halfvec(values) {
  const words = new Uint32Array(Float32Array.from(values).buffer);
  // A loop, because `from` with a function takes a third of the export.
  const halves = new Uint16Array(words.length);
  for (let index = 0; index < words.length; index++) halves[index] = halfBits(words[index]);
  return Buffer.concat([dimensions(values), Buffer.from(halves.buffer).swap16()]);
}

function dimensions(values) {
  return Buffer.concat([int16(values.length), int16(0)]);
}

function int16(value) {
  const buffer = Buffer.alloc(2);
  buffer.writeInt16BE(value);
  return buffer;
}

/**
 * The half-precision number near a single-precision one, both as bits. Enough for components of unit vectors, which are at most 1;
 * less than 2^-14 becomes 0.
 */
function halfBits(bits) {
  const sign = (bits >>> 16) & 0x8000;
  // Half of the last place is added; an overflow of the mantissa correctly carries into the exponent.
  const rounded = (bits & 0x7fffffff) + 0x1000;
  const exponentDifference = 127 - 15;
  const half = (rounded >>> 13) - (exponentDifference << 10);
  return half < 1 << 10 ? sign : sign | half;
}
