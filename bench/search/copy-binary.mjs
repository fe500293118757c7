// Rows in PostgreSQL's binary COPY format, which takes a quarter of the size of the text form for vectors.
// https://www.postgresql.org/docs/current/sql-copy.html, "Binary Format"

export const HEADER = Buffer.concat([Buffer.from("PGCOPY\n\xff\r\n\0", "latin1"), Buffer.alloc(8)]);
export const TRAILER = Buffer.from([0xff, 0xff]);

/** @param {Buffer[]} fields */
export function row(fields) {
  /** @type {Buffer[]} */
  const parts = [int16(fields.length)];
  for (const field of fields) parts.push(int32(field.length), field);
  return Buffer.concat(parts);
}

export const uuid = (text) => Buffer.from(text.replaceAll("-", ""), "hex");
export const text = (value) => Buffer.from(value, "utf8");

export function int32(value) {
  const buffer = Buffer.alloc(4);
  buffer.writeInt32BE(value);
  return buffer;
}

/** pgvector's vector: dimensions, an unused word, 4-byte floats. */
export function vector(values) {
  const buffer = Buffer.alloc(4 + 4 * values.length);
  buffer.writeInt16BE(values.length);
  values.forEach((value, index) => buffer.writeFloatBE(value, 4 + 4 * index));
  return buffer;
}

/** pgvector's halfvec: the same with 2-byte floats. */
export function halfvec(values) {
  const buffer = Buffer.alloc(4 + 2 * values.length);
  buffer.writeInt16BE(values.length);
  values.forEach((value, index) => buffer.writeUInt16BE(halfBits(value), 4 + 2 * index));
  return buffer;
}

function int16(value) {
  const buffer = Buffer.alloc(2);
  buffer.writeInt16BE(value);
  return buffer;
}

/** Nearest half-precision number; enough for components of unit vectors, which are at most 1. */
function halfBits(value) {
  const sign = value < 0 ? 0x8000 : 0;
  const size = Math.abs(value);
  if (size < 2 ** -14) return sign | Math.round(size * 2 ** 24);
  const exponent = Math.floor(Math.log2(size));
  // A mantissa that rounds up to 1024 correctly carries into the exponent.
  return sign | (((exponent + 15) << 10) + Math.round((size / 2 ** exponent - 1) * 1024));
}
