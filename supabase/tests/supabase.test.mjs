// Everything that needs the database runs in this one process, on one in-memory instance: starting it takes longer than
// all tests together.
import { after, describe } from "node:test";
import { chatAccess } from "./cases/chat-access.mjs";
import { chatRefusals } from "./cases/chat-refusals.mjs";
import { chatSettings } from "./cases/chat-settings.mjs";
import { constraints } from "./cases/constraints.mjs";
import { gateway } from "./cases/gateway.mjs";
import { issuer } from "./cases/issuer.mjs";
import { kbAccess } from "./cases/kb-access.mjs";
import { lexemes } from "./cases/lexemes.mjs";
import { matchChunks } from "./cases/match-chunks.mjs";
import { migrations } from "./cases/migrations.mjs";
import { publishDocument } from "./cases/publish-document.mjs";
import { recordTurn } from "./cases/record-turn.mjs";
import { searchHelpers } from "./cases/search-helpers.mjs";
import { sentences } from "./cases/sentences.mjs";
import { storageFiles } from "./cases/storage-files.mjs";
import { textSearch } from "./cases/text-search.mjs";
import { vectorIndex } from "./cases/vector-index.mjs";
import { openTestProject } from "./support/project.mjs";

const project = await openTestProject();
after(() => project.close());

describe("knowledge base access", () => kbAccess(project));
describe("chat access", () => chatAccess(project));
describe("chat_record_turn", () => recordTurn(project));
describe("chat settings", () => chatSettings(project));
describe("chat refusals", () => chatRefusals(project));
describe("table constraints", () => constraints(project));
describe("match_chunks", () => matchChunks(project));
describe("match_chunks with query_text", () => textSearch(project));
describe("sentences", () => sentences(project));
describe("lexeme counts", () => lexemes(project));
describe("search helpers", () => searchHelpers(project));
describe("kb_publish_document", () => publishDocument(project));
describe("vector index", () => vectorIndex(project));
describe("migrations", () => migrations(project));
describe("gateway", () => gateway(project));
describe("issuer of access tokens", () => issuer(project));
describe("storage files", () => storageFiles(project));
