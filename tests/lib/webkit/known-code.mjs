// Source code that Playwright sends, as a part of the driver's own scripts.

/** What Playwright's scripts evaluate, by the name of the argument that has the source code. */
const EVALUATED = {
  callbackText: (text) => text,
  expression: (text) => text,
  functionText: (text) => `(${text})`,
  source: (text) =>
    `\n    (() => {\n      const module = {};\n      ${text}\n      return module.exports.default();\n    })()`,
};

/**
 * Playwright's scripts evaluate source code in their arguments, which the policy of a page can forbid. The driver's own scripts may
 * always run, so put the source code into them.
 */
export function knownCode([utility, , , source, ...values]) {
  if (!utility?.handle || source?.type !== "string") return "";
  const texts = [source.value];
  const isExtension = source.value.includes("injectedScript.extend(");
  const visit = (value) => {
    if (!Array.isArray(value?.value)) return;
    if (value.type === "array") return value.value.forEach(visit);
    const fields = new Map(value.value.map(([name, field]) => [name.value ?? name, field]));
    const [name, field] = [fields.get("k")?.value, fields.get("v")];
    if (name in EVALUATED && field?.type === "string" && isExtension === (name === "source")) {
      texts.push(EVALUATED[name](field.value));
    }
    [...fields.values()].forEach(visit);
  };
  if (isExtension || source.value.includes("eval(")) values.forEach(visit);
  return texts.map((text) => `bridge.know(${JSON.stringify(text)}, () => ${parenthesized(text)});`).join(" ");
}

/** An expression in parentheses; Playwright ends some with a semicolon. */
export function parenthesized(expression) {
  return `(${expression.trim().replace(/;$/, "")}\n)`;
}
