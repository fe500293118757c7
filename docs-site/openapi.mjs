// The page about the HTTP routes, from docs/openapi.yaml.
import { parse } from "yaml";
import { cell, inline, table } from "./table.mjs";

const METHODS = ["get", "post", "put", "patch", "delete"];

/** @returns {string} Markdown */
export function openapiPage(/** @type {string} */ yaml) {
  const api = parse(yaml);
  const read = (node) => (node?.$ref ? read(at(api, node.$ref)) : node);
  const routes = Object.entries(api.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => ({ path, method, item, operation: item[method] })),
  );
  const page = ["---\neditLink: false\n---\n\n# HTTP routes", api.info.summary, inline(api.info.description)];
  for (const { name, description } of api.tags) {
    page.push(`## ${title(name)}`, inline(description));
    for (const route of routes.filter(({ operation }) => operation.tags?.includes(name)))
      page.push(...operationOf(route, read));
  }
  page.push("## Schemas");
  for (const [name, schema] of Object.entries(api.components.schemas)) page.push(...schemaOf(name, schema, read));
  return `${page
    .filter(Boolean)
    .map((part) => part.trim())
    .join("\n\n")}\n`;
}

function operationOf({ path, method, item, operation }, read) {
  const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map(read);
  const body = read(operation.requestBody);
  return [
    `### ${method.toUpperCase()} ${path}`,
    operation.summary && inline(`${operation.summary}.`),
    operation.description && inline(operation.description),
    operation.security?.length === 0 && "No token is needed.",
    table(
      ["parameter", "in", "type", "meaning"],
      parameters.map((parameter) => [
        `\`${parameter.name}\``,
        parameter.in,
        cell(typeOf(parameter.schema, read)),
        cell(parameter.description),
      ]),
    ),
    body && `Body: ${contentOf(body.content, read)}.`,
    table(
      ["status", "meaning", "body"],
      Object.entries(operation.responses).map(([status, response]) => {
        const { description, content } = read(response);
        return [status, cell(description), content ? contentOf(content, read) : ""];
      }),
    ),
  ];
}

function contentOf(content, read) {
  return Object.entries(content)
    .map(([type, { schema }]) => `\`${type}\` ${schema ? cell(typeOf(schema, read)) : ""}`.trim())
    .join(", ");
}

function schemaOf(name, schema, read) {
  const parts = [schema, ...(schema.allOf ?? [])].map((part) => (part === schema ? part : read(part)));
  const required = new Set(parts.flatMap((part) => part.required ?? []));
  const properties = parts.flatMap((part) => Object.entries(part.properties ?? {}));
  return [
    `### ${name}`,
    schema.description && inline(schema.description),
    properties.length === 0 && cell(typeOf(schema, read)),
    table(
      ["field", "type", "meaning"],
      properties.map(([field, property]) => [
        `\`${field}\`${required.has(field) ? "" : "?"}`,
        cell(typeOf(property, read)),
        cell(property.description ?? (property.$ref ? read(property).description : "")),
      ]),
    ),
  ];
}

/** A type in a few words, with links to the schemas of this page. */
function typeOf(schema, read) {
  if (schema === undefined || schema === true) return "";
  if (schema.$ref) {
    const [, name] = /^#\/components\/schemas\/(\w+)$/.exec(schema.$ref) ?? [];
    return name ? `[${name}](#${name.toLowerCase()})` : typeOf(read(schema), read);
  }
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(" or ");
  const either = schema.oneOf ?? schema.anyOf;
  if (either) return either.map((one) => typeOf(one, read)).join(" or ");
  if (schema.allOf) return schema.allOf.map((one) => typeOf(one, read)).join(" and ");
  const name = [schema.type].flat().join(" or ");
  if (schema.type === "array") return `array of ${typeOf(schema.items, read) || "values"}${bounds(schema, "Items")}`;
  return `${name}${schema.format ? ` (${schema.format})` : ""}${bounds(schema, "Length")}${bounds(schema, "imum")}`;
}

/** `, 1 to 4000`, from `minLength` and `maxLength` if `of` is "Length". */
function bounds(schema, of) {
  const [low, high] = of === "imum" ? [schema.minimum, schema.maximum] : [schema[`min${of}`], schema[`max${of}`]];
  if (low === undefined && high === undefined) return "";
  if (low === high) return `, ${low}`;
  return high === undefined ? `, at least ${low}` : `, ${low === undefined ? "at most" : `${low} to`} ${high}`;
}

function at(api, ref) {
  return ref
    .slice(2)
    .split("/")
    .reduce((node, key) => node[key.replaceAll("~1", "/").replaceAll("~0", "~")], api);
}

const title = (name) => `${name[0].toUpperCase()}${name.slice(1)}`;
