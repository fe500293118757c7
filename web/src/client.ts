/** The client without the element, for pages with looks of their own and for servers, and adapters for other stacks. */
export * from "./client/index.js";
export * from "./client/adapters/index.js";
