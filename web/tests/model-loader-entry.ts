// One bundle, so that the test and the loader share the one EmbedderError class.
export { EmbedderError } from "@evidence-chat/embedder";
export { ModelLoader } from "../src/panel/model/model-loader.js";
