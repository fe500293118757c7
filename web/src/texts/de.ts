import type { HelpTopics, LauncherTexts, PanelTexts } from "./en.js";

export const launcher: LauncherTexts = {
  heading: "Frage stellen",
  intro: "Was möchten Sie wissen?",
  open: "Frage stellen",
  close: "Schließen",
  question: "Ihre Frage",
  placeholder: "Frage stellen…",
  send: "Senden",
  hint: "Antworten zitieren ihre Quellen wörtlich.",
  loadFailed: "Der Chat konnte nicht geladen werden. Bitte laden Sie die Seite neu.",
  retry: "Erneut versuchen",
};

export const panel: PanelTexts = {
  // Model
  modelLoading: "KI wird gestartet…",
  modelPercent: "KI wird gestartet… {percent}",
  modelBytes: "{loaded} von {total} MB",
  modelAlmostReady: "Gleich bereit",
  modelReady: "Die KI ist bereit.",
  modelTimedOut: "Zeitüberschreitung der Verbindung",
  modelTimedOutText: "Die KI konnte nicht geladen werden. Bitte prüfen Sie Ihre Verbindung.",
  modelFailed: "Die KI konnte nicht geladen werden",
  modelFailedText: "Bitte prüfen Sie Ihre Verbindung und versuchen Sie es erneut, oder laden Sie die Seite neu.",
  modelUnsupported: "Browser wird nicht unterstützt",
  modelUnsupportedText:
    "Fragen werden in Ihrem Browser gelesen, und diesem fehlt, was dafür nötig ist. Bitte verwenden Sie eine aktuelle Version von Chrome, Edge, Firefox oder Safari.",
  modelConsent: "KI herunterladen?",
  modelConsentText:
    "Fragen werden in Ihrem Browser gelesen. Dafür müssen einmalig {size} MB heruntergeladen werden. Ihre Verbindung oder Ihr Gerät scheint eingeschränkt zu sein, deshalb fragen wir vorher.",
  modelConsentYes: "{size} MB herunterladen",

  // Conversation
  conversation: "Unterhaltung",
  newChat: "Neuer Chat",
  youAsked: "Ihre Frage",
  answer: "Antwort",
  searching: "Antwort wird gesucht…",
  answerReady: "Antwort: {text}",
  stop: "Anhalten",
  stopped: "Angehalten",
  retryIn: "Erneut versuchen in {count} s",
  connectionLost: "Verbindung unterbrochen: Die Antwort ist unvollständig",
  incomplete: "Unvollständige Antwort",
  copy: "Kopieren",
  copyMarkdown: "Als Markdown kopieren",
  copied: "Kopiert",
  copyFailed: "Kopieren nicht möglich",
  suggestedQuestions: "Vorgeschlagene Fragen",
  offline: "Sie sind offline. Ihre Frage kann gesendet werden, sobald die Verbindung wieder besteht.",
  tooLong:
    "Ihre Frage ist länger, als die KI lesen kann: Nur etwa die ersten {percent} werden berücksichtigt. Bitte kürzen Sie sie.",
  wasTooLong: "Diese Frage war länger, als die KI lesen kann: Nur ihr Anfang wurde berücksichtigt.",
  searched: "Zusammen mit Ihrer vorigen Frage gesucht: {question}",
  notSaved: "Diese Antwort fehlt möglicherweise in Ihrem Verlauf.",

  // Refusals, in the server's own words
  refusal:
    "Mir liegen nicht genügend Informationen vor, um diese Frage zu beantworten. Vielleicht hilft es, den Support zu kontaktieren oder die Frage anders zu formulieren.",
  refusalUnreadable:
    "In dieser Sprache kann ich nur nach den genauen Wörtern einer Frage suchen, und mit ihnen finde ich nicht genug, um sie zu beantworten. Vielleicht helfen andere Wörter, eine andere Sprache oder der Support.",
  refusalNoAccess:
    "Hier gibt es kein Dokument, das Sie lesen dürfen. Vielleicht hilft es, sich mit einem anderen Konto anzumelden oder den Support zu kontaktieren.",
  refusalEmpty:
    "Die Wissensdatenbank ist leer. Bitte wenden Sie sich an eine Administratorin oder einen Administrator.",
  loading: "Wird geladen…",
  contactSupport: "Support kontaktieren",
  contactSubject: "Frage zu Ihrer Website",
  rephrase: "Frage anders formulieren",
  nearest: "Ähnlichste Textstellen",

  // Errors, by code
  errorUnauthorized: "Bitte melden Sie sich an, um eine Frage zu stellen.",
  errorSignInExpired: "Ihre Anmeldung ist nicht mehr gültig. Bitte melden Sie sich ab und wieder an.",
  errorSignInUnconfirmed: "Ihre Anmeldung konnte nicht bestätigt werden. Bitte versuchen Sie es erneut.",
  errorVisitorsLimited: {
    one: "Aus Ihrem Netz kamen zu viele neue Besucher. Bitte versuchen Sie es in {count} Sekunde erneut.",
    other: "Aus Ihrem Netz kamen zu viele neue Besucher. Bitte versuchen Sie es in {count} Sekunden erneut.",
  },
  errorForbidden: "Sie dürfen hier keine Fragen stellen.",
  errorUnknownAssistant: "Diesen Assistenten gibt es nicht, oder er ist nicht für Sie.",
  errorNotFound: "Diese Unterhaltung gibt es nicht mehr. Versuchen Sie es erneut, um eine neue zu beginnen.",
  errorModelMismatch: "Diese Seite ist veraltet. Bitte laden Sie sie neu.",
  errorRateLimited: {
    one: "Sie fragen schneller, als geantwortet werden kann. Bitte versuchen Sie es in {count} Sekunde erneut.",
    other: "Sie fragen schneller, als geantwortet werden kann. Bitte versuchen Sie es in {count} Sekunden erneut.",
  },
  errorUnavailable: "Der Dienst ist gerade nicht erreichbar. Bitte versuchen Sie es gleich noch einmal.",
  errorTimeout: "Die Suche hat zu lange gedauert. Bitte versuchen Sie es erneut.",
  errorConnectionLost: "Die Verbindung wurde unterbrochen, bevor die Antwort vollständig war.",
  errorInvalidResponse: "Der Server hat eine Antwort gesendet, die nicht gelesen werden konnte.",
  errorInternal: "Etwas ist schiefgegangen.",
  errorEmbedding: "Ihre Frage konnte nicht verarbeitet werden.",

  // Sources
  sources: { one: "{count} Quelle", other: "{count} Quellen" },
  showMoreSources: "Weitere Quellen anzeigen",
  source: "Quelle {count}",
  sourceNamed: "Quelle {count}: {title}",
  sourceNumber: "{count}",
  page: "Seite {count}",
  passages: { one: "{count} Textstelle", other: "{count} Textstellen" },
  sourcesAgree: "{agreeing} von {total} Quellen stimmen überein",
  sourcesAgreeHelp: "So viele der zitierten Dokumente enthalten den ersten Satz der Antwort wörtlich.",
  hedged: "Diese Textstellen handeln davon, beantworten die Frage aber vielleicht nicht.",
  places: { one: "{count} passende Stelle", other: "{count} passende Stellen" },
  alsoFound: "Außerdem gefunden ({count})",
  alsoFoundHelp: "Nahe an Ihrer Frage, aber in der Antwort nicht zitiert.",
  strengthStrong: "Starker Beleg",
  strengthGood: "Guter Beleg",
  strengthPartial: "Teilweiser Beleg",
  similarity: "Ähnlichkeit {score}",
  verifiedQuote: "Geprüftes Zitat",
  verifiedQuoteHelp:
    "In Ihrem Browser verglichen: Die Antwort enthält diese Wörter genau so, wie sie in dieser vom Server gelieferten Textstelle stehen.",
  openDocument: "Dokument öffnen",
  downloadDocument: "Original herunterladen",
  downloadFailed: "Das Dokument konnte nicht heruntergeladen werden.",
  documentGone: "Dokument nicht mehr verfügbar",
  unknownDocument: "Unbekanntes Dokument",
  showPassage: "Textstelle anzeigen",
  badgeHint:
    "Die Zahl hinter einem Satz ist seine Quelle: Öffnen Sie sie, um die Worte an ihrer Stelle im Text zu sehen.",

  // Answers that a language model writes
  writing: "Wird geschrieben und geprüft…",
  generated: "Von einem Sprachmodell aus den Dokumenten dieser Website geschrieben.",
  generatedCopy: "Von einem Sprachmodell aus den genannten Quellen geschrieben.",
  leftOut: {
    one: "{count} Satz wurde weggelassen, weil keine Quelle ihn belegt.",
    other: "{count} Sätze wurden weggelassen, weil keine Quelle sie belegt.",
  },
  leftOutNumber: "Zahl oder Datum nicht in der Quelle: {count}",
  leftOutName: "Name nicht in der Quelle: {count}",
  leftOutQuote: "Zitierte Wörter nicht in der Quelle: {count}",
  leftOutLink: "Link, Adresse oder Code nicht in der Quelle: {count}",
  leftOutPolarity: "Die Quelle sagt das Gegenteil oder schränkt es anders ein: {count}",
  leftOutOrder: "Gleiche Wörter in anderer Reihenfolge, mit anderem Sinn: {count}",
  leftOutUnsupported: "Von keiner Quelle belegt: {count}",
  sourceSentence: "Satz aus der Quelle",
  sourceSentenceHelp:
    "In Ihrem Browser geprüft: Die vom Server gelieferte Textstelle enthält diese Wörter. Der Satz der Antwort wurde mit ihnen abgeglichen.",
  hintGenerated: "Antworten werden mit ihren Quellen abgeglichen.",
  privacy: "So entstehen die Antworten",
  sendsTo:
    "Um Antworten zu schreiben, werden Ihre Frage und die dazu gefundenen Textstellen an {service} gesendet. Frühere Fragen werden nur mitgesendet, wenn mit ihnen zusammen gesucht wird. Ihr Konto wird nicht gesendet.",
  writtenOnDevice:
    "Antworten zitieren die Dokumente. Auf Wunsch schreibt ein Sprachmodell auf diesem Gerät sie auch in eigenen Worten; jeder Satz wird geprüft. Dafür wird nichts gesendet.",
  privacyDismiss: "Verstanden",

  // Answers that are written on this device
  write: "In ein, zwei Sätzen schreiben (auf diesem Gerät)",
  writeConsent: "Sprachmodell herunterladen?",
  writeConsentText:
    "Es schreibt Antworten auf diesem Gerät in eigenen Worten; Ihre Fragen werden dafür nirgendwohin gesendet. Dafür müssen einmalig {size} MB heruntergeladen werden.",
  writeConsentBuiltIn:
    "Ihr Browser hat ein eigenes Sprachmodell, das er zuerst herunterlädt. Das können mehrere Gigabyte sein. Es schreibt Antworten auf diesem Gerät; Ihre Fragen werden dafür nirgendwohin gesendet.",
  notNow: "Jetzt nicht",
  writeLoading: "Sprachmodell wird geladen…",
  writeNothing: "Das Sprachmodell hat nichts geschrieben, was die Quellen belegen. Die Antwort sind die Zitate unten.",
  writeFailed: "Die Antwort konnte auf diesem Gerät nicht geschrieben werden.",
  writeMemory: "Dieses Gerät hat nicht genug Arbeitsspeicher für das Sprachmodell.",
  writeUnsupported: "Dieser Browser kann das Sprachmodell nicht ausführen.",
  writtenAnswer: "Geschriebene Antwort",
  writtenReady: "Geschriebene Antwort: {text}",
  generatedOnDevice: "Auf diesem Gerät von einem Sprachmodell aus den Dokumenten dieser Website geschrieben.",

  // Export of references
  exportReferences: "Quellenangaben exportieren",
  exportFormat: "Format",
  exportDownload: "Herunterladen",
  exportFailed: "Die Quellenangaben konnten nicht formatiert werden.",

  // Feedback
  feedback: "Ihre Meinung zu dieser Antwort",
  helpful: "Hilfreich",
  notHelpful: "Nicht hilfreich",
  feedbackWhy: "Was stimmt mit dieser Antwort nicht?",
  feedbackWrong: "Sie ist falsch",
  feedbackIncomplete: "Etwas fehlt",
  feedbackOffTopic: "Sie beantwortet eine andere Frage",
  feedbackOutdated: "Sie ist veraltet",
  feedbackOther: "Etwas anderes",
  feedbackComment: "Mit Ihren eigenen Worten (freiwillig)",
  feedbackShared: "Der Betreiber dieser Website sieht das zusammen mit Ihrer Frage und der Antwort.",
  feedbackThanks: "Vielen Dank.",
  feedbackFailed: "Das wurde möglicherweise nicht gesendet. Bitte versuchen Sie es noch einmal.",

  // History
  history: "Verlauf",
  help: "Hilfe",
  historyBack: "Zurück zum Chat",
  historyEmpty: "Hier erscheinen Ihre Unterhaltungen.",
  historyFailed: "Ihr Verlauf konnte nicht geladen werden.",
  historyMore: "Ältere Unterhaltungen anzeigen",
  historyOpen: "„{title}“ öffnen",
  historyUntitled: "Unterhaltung ohne Titel",
  historySignIn: "Bitte melden Sie sich an, um Ihre Unterhaltungen zu sehen.",
  rename: "„{title}“ umbenennen",
  renameTitle: "Titel der Unterhaltung",
  save: "Speichern",
  cancel: "Abbrechen",
  delete: "„{title}“ löschen",
  deleted: "„{title}“ wurde gelöscht.",
  undo: "Rückgängig",
  historyChangeFailed: "Die Änderung wurde möglicherweise nicht gespeichert.",
  conversationRestored: "Die Unterhaltung „{title}“ ist geöffnet.",
  messagesFailed: "Die Unterhaltung konnte nicht geladen werden.",

  // Data of the visitor
  myData: "Ihre Daten",
  exportData: "Meine Daten exportieren",
  exportingData: "Ihre Daten werden exportiert…",
  exportDataDone: "Die Datei mit Ihren Daten ist vollständig.",
  exportDataFailed: "Ihre Daten konnten nicht exportiert werden. Es wurde keine Datei gespeichert.",
  deleteData: "Alles von mir löschen",
  deleteDataTitle: "Alles von Ihnen löschen?",
  deleteDataText:
    "Alle Ihre Unterhaltungen werden gelöscht, mit jeder Frage und Antwort darin, auch die Fragen, die nicht beantwortet werden konnten. Das lässt sich nicht rückgängig machen. Sie bleiben angemeldet.",
  deleteDataYes: "Alles löschen",
  deletingData: "Alles von Ihnen wird gelöscht…",
  deleteDataDone: "Alles von Ihnen wurde gelöscht.",
  deleteDataFailed: "Möglicherweise wurde nicht alles von Ihnen gelöscht. Bitte versuchen Sie es erneut.",
  myDataSignIn: "Bitte melden Sie sich zuerst an.",
  tooManyRequests: {
    one: "Zu viele Anfragen. Bitte versuchen Sie es in {count} Sekunde erneut.",
    other: "Zu viele Anfragen. Bitte versuchen Sie es in {count} Sekunden erneut.",
  },
};

export const help: HelpTopics = [
  [
    "Antworten sind Zitate",
    "Jeder Satz einer Antwort steht wörtlich in den Dokumenten dieser Website. Hat ein Sprachmodell eine Antwort geschrieben, steht das darunter.",
  ],
  [
    "Die Quelle prüfen",
    "Die Zahl hinter einem Satz ist seine Quelle. Zeigen Sie darauf, um die Worte an ihrer Stelle zu sehen, oder wählen Sie sie aus, um die Stelle in der Liste unter der Antwort zu öffnen.",
  ],
  [
    "Gut fragen",
    "Fragen Sie eine Sache auf einmal, in einem ganzen Satz. Von einer sehr langen Frage wird nur der Anfang gelesen.",
  ],
  [
    "Keine Antwort?",
    "Wenn die Dokumente es nicht sagen, sagt der Chat das, statt zu raten. Versuchen Sie andere Worte, oder lesen Sie die Stellen, die am nächsten kommen.",
  ],
  [
    "Ihre Gespräche",
    "„{history}“ zeigt sie. Dort können Sie sie fortsetzen, umbenennen und löschen. Dieser Tab zeigt das aktuelle nach dem Neuladen wieder.",
  ],
  [
    "Tastatur",
    "Die Eingabetaste sendet, mit der Umschalttaste beginnt sie eine neue Zeile. Tab führt zu den Quellen, Escape schließt, was offen ist.",
  ],
];
