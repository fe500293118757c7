// What the widget's sources say about the element, read with the TypeScript compiler.
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const SOURCES = new URL("../../web/src/", import.meta.url);
const CONFIG = fileURLToPath(new URL("../../web/tsconfig.json", import.meta.url));

/**
 * @returns {{ attributes: Set<string>, componentAttributes: Set<string>, events: Set<string>, parts: Set<string> }} attributes
 *   that code reads from the element, those in `EvidenceChatAttributes`, the names in `EvidenceChatEventMap`, and the values of `part`
 */
export function readSource() {
  const { options, fileNames } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(CONFIG, (path) => ts.sys.readFile(path)).config,
    ts.sys,
    fileURLToPath(new URL("..", SOURCES)),
  );
  const program = ts.createProgram(fileNames, options);
  const checker = program.getTypeChecker();
  const [attributes, componentAttributes, events, parts] = [new Set(), new Set(), new Set(), new Set()];

  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
      const { expression: receiver, name } = node.expression;
      const [argument] = node.arguments;
      const isRead = ["getAttribute", "hasAttribute"].includes(name.text);
      const type = checker.getTypeAtLocation(receiver);
      // The panel knows the element by the interface `HostElement`.
      const isOfElement = ["EvidenceChatElement", "HostElement"].includes((type.aliasSymbol ?? type.symbol)?.name);
      if (isRead && isOfElement && ts.isStringLiteral(argument)) attributes.add(argument.text);
    } else if (ts.isInterfaceDeclaration(node) && node.name.text === "EvidenceChatEventMap") {
      for (const { name } of checker.getTypeAtLocation(node).getProperties()) events.add(name);
    } else if (ts.isInterfaceDeclaration(node) && node.name.text === "EvidenceChatAttributes") {
      for (const { name } of checker.getTypeAtLocation(node).getProperties())
        componentAttributes.add(name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`));
    } else if (
      ts.isPropertyAssignment(node) &&
      node.name.getText() === "part" &&
      ts.isStringLiteral(node.initializer)
    ) {
      for (const part of node.initializer.text.split(" ")) parts.add(part);
    }
    ts.forEachChild(node, visit);
  };
  const isOurs = (/** @type {ts.SourceFile} */ file) => file.fileName.startsWith(fileURLToPath(SOURCES));
  for (const file of program.getSourceFiles().filter(isOurs)) visit(file);
  return { attributes, componentAttributes, events, parts };
}

/**
 * The custom properties `--evidence-chat-…` that the style sheets read.
 * @returns {Promise<Set<string>>}
 */
export async function readCustomProperties() {
  const properties = new Set();
  for (const name of await readdir(SOURCES, { recursive: true })) {
    if (!name.endsWith(".css")) continue;
    const css = await readFile(new URL(name, SOURCES), "utf8");
    for (const [, property] of css.matchAll(/var\(\s*(--evidence-chat-[\w-]+)/g)) properties.add(property);
  }
  return properties;
}
