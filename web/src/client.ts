/**
 * The client without the element, for servers and for pages with their own interface, and adapters for other stacks.
 */
export * from "./client/index.js";
export * from "./client/adapters/index.js";
