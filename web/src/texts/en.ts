// The English texts. Every language has a file with these three tables, which `index.ts` names.

/** A text with `{name}` places, or one text for each plural form of the number at `{count}`. */
export type Message = string | ({ readonly other: string } & { readonly [form in Intl.LDMLPluralRule]?: string });

/** Texts of the launcher, which has them in every language, because it shows them at once. */
export const launcher = {
  // The panel's title, unless the page gives one.
  heading: "Ask a question",
  // Before the first question.
  intro: "What would you like to know?",
  // Label of the floating button.
  open: "Ask a question",
  close: "Close",
  // Label of the question box.
  question: "Your question",
  placeholder: "Ask a question…",
  send: "Send",
  // Below the question box.
  hint: "Answers quote their sources word for word.",
  // If the panel could not be loaded.
  loadFailed: "The chat could not be loaded. Please reload the page.",
  retry: "Retry",
} as const;

/** The launcher's texts in a language. */
export type LauncherTexts = { readonly [key in keyof typeof launcher]: string };

/** Texts that load with the panel. */
export const panel = {
  // Model. The product's specification prescribes the words and the capital letters of `modelLoading`, `modelTimedOut` and
  // `modelUnsupported`; the other texts say "AI" as these do.
  modelLoading: "Initializing AI…",
  modelPercent: "Initializing AI… {percent}",
  modelBytes: "{loaded} of {total} MB",
  modelAlmostReady: "Almost ready",
  modelReady: "The AI is ready.",
  modelTimedOut: "Connection Timed Out",
  modelTimedOutText: "The AI could not be loaded. Please check your connection.",
  modelFailed: "The AI could not be loaded",
  modelFailedText: "Please check your connection and try again, or reload the page.",
  modelUnsupported: "Browser Not Supported",
  modelUnsupportedText:
    "Questions are processed in your browser, and this browser lacks a required feature. Please use a recent version of Chrome, Edge, Firefox or Safari.",
  modelConsent: "Download the AI?",
  modelConsentText:
    "Questions are processed in your browser. This requires a one-time download of {size} MB. Your connection or device seems to be limited, so we ask first.",
  modelConsentYes: "Download {size} MB",

  // Conversation
  conversation: "Conversation",
  newChat: "New chat",
  youAsked: "You asked",
  answer: "Answer",
  searching: "Looking for an answer…",
  answerReady: "Answer: {text}",
  stop: "Stop",
  stopped: "Stopped",
  retryIn: "Retry in {count} s",
  connectionLost: "Connection lost: the answer is incomplete",
  incomplete: "Incomplete answer",
  copy: "Copy",
  copyMarkdown: "Copy as Markdown",
  copied: "Copied",
  copyFailed: "Could not copy",
  suggestedQuestions: "Suggested questions",
  offline: "You are offline. Your question can be sent when the connection is back.",
  tooLong:
    "Your question is longer than the AI can read: only about the first {percent} will be used. Please shorten it.",
  wasTooLong: "This question was longer than the AI can read: only its beginning was used.",
  searched: "Searched together with: {question}",
  notSaved: "This answer may be missing from your history.",

  // Refusals, in the server's own words
  refusal:
    "I don't have enough information to answer that question. You might try contacting support or rephrasing your question.",
  refusalUnreadable:
    "I can search in this language only for the very words of a question, and they do not find enough to answer it. You might try other words, another language, or contacting support.",
  refusalNoAccess:
    "There is no document here that you may read. You might try signing in with another account, or contacting support.",
  refusalEmpty: "The knowledge base is empty. Please contact an admin.",
  loading: "Loading…",
  contactSupport: "Contact support",
  contactSubject: "Question about your website",
  rephrase: "Rephrase your question",
  nearest: "Closest passages",

  // Errors, by code
  errorUnauthorized: "Please sign in to ask a question.",
  errorSignInExpired: "Your sign-in is no longer valid. Please sign out and in again.",
  errorSignInUnconfirmed: "Your sign-in could not be confirmed. Please try again.",
  errorVisitorsLimited: {
    one: "Too many new visitors came from your network. Please try again in {count} second.",
    other: "Too many new visitors came from your network. Please try again in {count} seconds.",
  },
  errorForbidden: "You are not allowed to ask questions here.",
  errorUnknownAssistant: "This assistant does not exist, or you don't have access to it.",
  errorNotFound: "This conversation no longer exists. Retry to start a new one.",
  errorModelMismatch: "This page is out of date. Please reload it.",
  errorRateLimited: {
    one: "You are asking faster than answers can be given. Please try again in {count} second.",
    other: "You are asking faster than answers can be given. Please try again in {count} seconds.",
  },
  errorUnavailable: "The service cannot be reached right now. Please try again in a moment.",
  errorTimeout: "The search took too long. Please try again.",
  errorConnectionLost: "The connection was lost before the answer was complete.",
  errorInvalidResponse: "The server sent a reply that could not be read.",
  errorInternal: "Something went wrong.",
  errorEmbedding: "Your question could not be processed.",

  // Sources
  sources: { one: "{count} source", other: "{count} sources" },
  showMoreSources: "Show more sources",
  source: "Source {count}",
  sourceNamed: "Source {count}: {title}",
  sourceNumber: "{count}",
  page: "Page {count}",
  passages: { one: "{count} passage", other: "{count} passages" },
  sourcesAgree: "{agreeing} of {total} sources agree",
  sourcesAgreeHelp: "Number of quoted documents that contain the first sentence of the answer word for word.",
  hedged: "These passages are on topic but may not answer your question.",
  places: { one: "{count} place to look", other: "{count} places to look" },
  alsoFound: "Also found ({count})",
  alsoFoundHelp: "Near your question, but not quoted in the answer.",
  strengthStrong: "Strong evidence",
  strengthGood: "Good evidence",
  strengthPartial: "Partial evidence",
  similarity: "Similarity {score}",
  verifiedQuote: "Verified quote",
  verifiedQuoteHelp:
    "Checked in your browser: the answer has exactly these words of the passage, which the server sent.",
  openDocument: "Open document",
  downloadDocument: "Download original",
  downloadFailed: "The document could not be downloaded.",
  documentGone: "Document no longer available",
  unknownDocument: "Unknown document",
  showPassage: "Show passage",
  badgeHint: "The number after a sentence is its source: open it to see the words in their passage.",

  // Answers that a language model writes
  writing: "Writing and checking…",
  generated: "Written by a language model from the documents of this site.",
  generatedCopy: "Written by a language model from the cited sources.",
  leftOut: {
    one: "{count} sentence was left out because no source supports it.",
    other: "{count} sentences were left out because no source supports them.",
  },
  leftOutNumber: "Number or date not in the source: {count}",
  leftOutName: "Name not in the source: {count}",
  leftOutQuote: "Quoted words not in the source: {count}",
  leftOutLink: "Link, address or code not in the source: {count}",
  leftOutPolarity: "The source says the opposite, or limits it differently: {count}",
  leftOutOrder: "Same words in another order, with another meaning: {count}",
  leftOutUnsupported: "Not said by any source: {count}",
  sourceSentence: "Source sentence",
  sourceSentenceHelp:
    "Checked in your browser: the passage, which the server sent, has these words. The sentence of the answer was checked against them.",
  hintGenerated: "Answers are checked against their sources.",
  privacy: "How answers are written",
  sendsTo:
    "To write answers, your question and the passages found for it are sent to {service}. Earlier questions are sent only if yours is searched together with them. Your account is not sent.",
  writtenOnDevice:
    "Answers quote the documents. If you want, a language model on this device also writes them in its own words, and each sentence is checked. Nothing is sent for the writing.",
  privacyDismiss: "Got it",

  // Answers that are written on this device
  write: "Write it in a sentence or two (on this device)",
  writeConsent: "Download a language model?",
  writeConsentText:
    "It writes answers on this device, in its own words; your questions are not sent anywhere for that. This requires a one-time download of {size} MB.",
  writeConsentBuiltIn:
    "Your browser has a language model of its own, which it downloads first. That can take several gigabytes. It writes answers on this device; your questions are not sent anywhere for that.",
  notNow: "Not now",
  writeLoading: "Loading the language model…",
  writeNothing: "The language model wrote nothing that the sources support. The answer is the quotes below.",
  writeFailed: "The answer could not be written on this device.",
  writeMemory: "This device does not have enough memory for the language model.",
  writeUnsupported: "This browser cannot run the language model.",
  writtenAnswer: "Written answer",
  writtenReady: "Written answer: {text}",
  generatedOnDevice: "Written on this device by a language model from the documents of this site.",

  // Export of references
  exportReferences: "Export references",
  exportFormat: "Format",
  exportDownload: "Download",
  exportFailed: "The references could not be formatted.",

  // Feedback
  feedback: "Your opinion of this answer",
  helpful: "Helpful",
  notHelpful: "Not helpful",
  feedbackWhy: "What is wrong with this answer?",
  feedbackWrong: "It is not true",
  feedbackIncomplete: "Something is missing",
  feedbackOffTopic: "It answers another question",
  feedbackOutdated: "It is out of date",
  feedbackOther: "Something else",
  feedbackComment: "In your own words (optional)",
  feedbackShared: "The owner of this site sees it together with your question and the answer.",
  feedbackThanks: "Thank you.",
  feedbackFailed: "This may not have been sent. Please try again.",

  // History
  history: "History",
  help: "Help",
  historyBack: "Back to the chat",
  historyEmpty: "Your conversations will appear here.",
  historyFailed: "Your history could not be loaded.",
  historyMore: "Show older conversations",
  historyOpen: "Open “{title}”",
  historyUntitled: "Untitled conversation",
  historySignIn: "Please sign in to see your conversations.",
  rename: "Rename “{title}”",
  renameTitle: "Title of the conversation",
  save: "Save",
  cancel: "Cancel",
  delete: "Delete “{title}”",
  deleted: "“{title}” was deleted.",
  undo: "Undo",
  historyChangeFailed: "The change may not have been saved.",
  conversationRestored: "The conversation “{title}” is open.",
  messagesFailed: "The conversation could not be loaded.",

  // Data of the visitor
  myData: "Your data",
  exportData: "Export my data",
  exportingData: "Exporting your data…",
  exportDataDone: "Your data was exported.",
  exportDataFailed: "Your data could not be exported. No file was saved.",
  deleteData: "Delete all my data",
  deleteDataTitle: "Delete all your data?",
  deleteDataText:
    "All your conversations will be deleted, with all questions and answers, including questions that could not be answered. This cannot be undone. You stay signed in.",
  deleteDataYes: "Delete everything",
  deletingData: "Deleting all your data…",
  deleteDataDone: "All your data was deleted.",
  deleteDataFailed: "Some of your data may not have been deleted. Please try again.",
  myDataSignIn: "Please sign in first.",
  tooManyRequests: {
    one: "Too many requests. Please try again in {count} second.",
    other: "Too many requests. Please try again in {count} seconds.",
  },
} as const satisfies Record<string, Message>;

/** The panel's texts in a language. */
export type PanelTexts = { readonly [key in keyof typeof panel]: Message };

/** The topics of the help, which load when a visitor opens it. `{history}` is the name of the button. */
export const help: HelpTopics = [
  [
    "Answers are quotes",
    "Every sentence of an answer is taken word for word from the documents of this site. If a language model wrote an answer, a note below it says so.",
  ],
  [
    "Check the source",
    "The number after a sentence is its source. Point at it to see the words in their passage, or select it to open that passage in the list below the answer.",
  ],
  ["Ask well", "Ask one thing at a time, in a whole sentence. Only the beginning of a very long question is read."],
  [
    "No answer?",
    "If the documents do not say it, the chat says so instead of guessing. Try other words, or read the passages that came close.",
  ],
  [
    "Your conversations",
    "“{history}” lists them. There you can continue, rename and delete them. This tab shows the current one again after a reload.",
  ],
  ["Keyboard", "Enter sends, Shift+Enter begins a new line. Tab leads to the sources; Escape closes what is open."],
];

/** Heading and text of each topic of the help. */
export type HelpTopics = readonly (readonly [heading: string, text: string])[];
