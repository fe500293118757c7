/**
 * A setting of a bench program, from its environment.
 * @param {string} name
 */
export function setting(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set; run this with \`cargo xtask bench edge\``);
  return value;
}
