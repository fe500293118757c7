/**
 * The packages that contain the program, one for each platform. `key` is `process.platform`-`process.arch`; `target` is the
 * compiler's name of the platform, as in the files of a release.
 * @type {readonly { key: string, target: string, os: string, cpu: string, libc?: string, program: string }[]}
 */
export const PLATFORMS = [
  // Linked with glibc.
  { key: "linux-x64", target: "x86_64-unknown-linux-gnu", os: "linux", cpu: "x64", libc: "glibc", program: "kb" },
  { key: "linux-arm64", target: "aarch64-unknown-linux-gnu", os: "linux", cpu: "arm64", libc: "glibc", program: "kb" },
  { key: "darwin-x64", target: "x86_64-apple-darwin", os: "darwin", cpu: "x64", program: "kb" },
  { key: "darwin-arm64", target: "aarch64-apple-darwin", os: "darwin", cpu: "arm64", program: "kb" },
  { key: "win32-x64", target: "x86_64-pc-windows-msvc", os: "win32", cpu: "x64", program: "kb.exe" },
];

/** The name of a platform's package. */
export const packageOf = (key) => `@evidence-chat/kb-${key}`;
