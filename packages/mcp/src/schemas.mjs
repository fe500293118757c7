import { z } from "zod";

/** The Worker rejects longer questions. */
const MAX_QUESTION_CHARS = 4000;

const question = z
  .string()
  .trim()
  .min(1)
  .refine((text) => [...text].length <= MAX_QUESTION_CHARS, `a question has at most ${MAX_QUESTION_CHARS} characters`);

export const ASK_INPUT = {
  question: question.describe(
    "One question in whole sentences, in the user's own words: 1 to 4000 characters, of which the first 256 tokens are read.",
  ),
  previous_question: question
    .optional()
    .describe(
      'The question before this one in the same conversation, or the `searched` of its result if it has one, for a follow-up such as "And to Norway?". Both are searched together where that finds clearly more. Leave it out if the question stands alone.',
    ),
  session_id: z
    .uuid()
    .optional()
    .describe("The session_id of an earlier result, to continue that conversation. Without it, a new one begins."),
};

/** The Worker returns at most this many passages. */
const MAX_RESULTS = 10;

const passage = z.object({
  title: z.string(),
  section: z.string().optional(),
  page: z.number().optional(),
  url: z.string().optional().describe("Where people read the document"),
  download_url: z.string().optional().describe("The original file; it may need the user's access token"),
  content_type: z.string().optional().describe("Media type of the document; passages are plain text"),
  document_id: z.string(),
  chunk_id: z.string(),
  score: z.number().describe("Cosine similarity of question and passage"),
  excerpt: z.string().optional().describe("The whole passage; left out if the result would be too long"),
});

const words = {
  start: z.number().int().describe("Offset into the excerpt, in UTF-16 code units"),
  end: z.number().int(),
  text: z.string(),
};

const quote = z.object({
  ...words,
  kind: z.string().optional().describe("sentence, row (a tab separates its cells) or code"),
  plain: z.string().optional().describe("The words as the answer has them, if they differ"),
  pieces: z
    .array(z.object({ text: z.string(), role: z.string().optional() }))
    .optional()
    .describe("What the answer has; pieces with a role are words from around the quote that it needs to be understood"),
  whole: z.string().optional().describe("The words with all that they need, if the answer has it right before them"),
});

const citation = passage.extend({
  index: z.number().int().describe("The number n of the markers [n]; all passages of a document share it"),
  strength: z.enum(["strong", "good", "partial"]).optional(),
  quotes: z.array(quote).describe("Verbatim words that the answer uses"),
  supports: z
    .array(z.object({ ...words, sentence: z.number().int() }))
    .optional()
    .describe("Only if a language model wrote the answer: the words from which its sentences follow"),
});

/** A flat object, because MCP wants one: `type` says which fields are there. */
export const ASK_OUTPUT = {
  type: z.enum(["answer", "refusal"]).describe("A refusal is a result: the documents do not answer the question"),
  text: z.string().describe("The answer with its markers [n], or why there is none"),
  cut: z.literal(true).optional().describe("The answer ends before the model had finished it"),
  hedged: z.boolean().optional().describe("The passages are on the subject but may not answer the question"),
  mode: z.enum(["extractive", "generated"]).optional().describe("extractive: all sentences are verbatim quotes"),
  citations: z.array(citation),
  nearest: z
    .array(passage.omit({ excerpt: true }))
    .describe("Passages near the question that are not quoted, the best first"),
  reason: z.enum(["no_match", "weak_evidence", "unreadable_language", "no_access", "empty_kb"]).optional(),
  suggestions: z
    .array(z.object({ type: z.enum(["contact", "rephrase", "ask"]), text: z.string(), url: z.string().optional() }))
    .optional()
    .describe(
      "What the user can do: write to people (at the url, if there is one), ask in other words, or ask this question",
    ),
  searched: z.string().optional().describe("The question with the one before it, if the result is that of both"),
  session_id: z.string().optional().describe("Send it with the next question of the same conversation"),
  truncated: z.boolean().describe("The question is longer than the model reads: its end was ignored"),
  shortened: z.boolean().describe("Parts of the result were left out because it would be too long"),
};

export const SEARCH_INPUT = {
  query: question.describe("What to look for, as a question or as words: 1 to 4000 characters"),
  limit: z.number().int().min(1).max(MAX_RESULTS).default(5).describe("Number of passages at most"),
};

export const SEARCH_OUTPUT = {
  results: z
    .array(passage.extend({ quotes: z.array(quote).describe("The best sentence") }))
    .describe("The best first; empty if nothing is near"),
  truncated: z.boolean().describe("The query is longer than the model reads: its end was ignored"),
  shortened: z.boolean().describe("Parts of the result were left out because it would be too long"),
};
