/**
 * `(func (drop (i8x16.splat (i32.const 0))))`: the smallest module that only validates where WebAssembly has 128-bit
 * SIMD, which the embedder is compiled to.
 */
// prettier-ignore
const SIMD_PROBE = Uint8Array.of(
  0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00, // magic, version
  0x01, 0x04, 0x01, 0x60, 0x00, 0x00, // one type: () -> ()
  0x03, 0x02, 0x01, 0x00, // one function of that type
  0x0a, 0x09, 0x01, 0x07, 0x00, 0x41, 0x00, 0xfd, 0x0f, 0x1a, 0x0b, // its body
);

/** Whether this browser has what the embedder needs: Web Workers and WebAssembly with SIMD. */
export function isSupported(): boolean {
  return typeof Worker === "function" && typeof WebAssembly === "object" && WebAssembly.validate(SIMD_PROBE);
}
