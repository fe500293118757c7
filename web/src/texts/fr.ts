import type { HelpTopics, LauncherTexts, PanelTexts } from "./en.js";

export const launcher: LauncherTexts = {
  heading: "Posez une question",
  intro: "Que souhaitez-vous savoir\u00a0?",
  open: "Poser une question",
  close: "Fermer",
  question: "Votre question",
  placeholder: "Posez une question…",
  send: "Envoyer",
  hint: "Les réponses citent leurs sources mot pour mot.",
  loadFailed: "Le chat n’a pas pu être chargé. Rechargez la page.",
  retry: "Réessayer",
};

export const panel: PanelTexts = {
  // Model
  modelLoading: "Démarrage de l’IA…",
  modelPercent: "Démarrage de l’IA… {percent}",
  modelBytes: "{loaded} sur {total} Mo",
  modelAlmostReady: "Presque prêt",
  modelReady: "L’IA est prête.",
  modelTimedOut: "Délai de connexion dépassé",
  modelTimedOutText: "L’IA n’a pas pu être chargée. Vérifiez votre connexion.",
  modelFailed: "L’IA n’a pas pu être chargée",
  modelFailedText: "Vérifiez votre connexion et réessayez, ou rechargez la page.",
  modelUnsupported: "Navigateur non pris en charge",
  modelUnsupportedText:
    "Les questions sont lues dans votre navigateur, et il manque à celui-ci ce qu’il faut pour cela. Veuillez utiliser une version récente de Chrome, Edge, Firefox ou Safari.",
  modelConsent: "Télécharger l’IA\u00a0?",
  modelConsentText:
    "Les questions sont lues dans votre navigateur. Cela demande de télécharger {size} Mo, une seule fois. Votre connexion ou votre appareil semblent limités, c’est pourquoi nous vous le demandons d’abord.",
  modelConsentYes: "Télécharger {size} Mo",

  // Conversation
  conversation: "Conversation",
  newChat: "Nouvelle conversation",
  youAsked: "Votre question",
  answer: "Réponse",
  searching: "Recherche d’une réponse…",
  answerReady: "Réponse\u00a0: {text}",
  stop: "Arrêter",
  stopped: "Arrêté",
  retryIn: "Réessayer dans {count} s",
  connectionLost: "Connexion perdue\u00a0: la réponse est incomplète",
  incomplete: "Réponse incomplète",
  copy: "Copier",
  copyMarkdown: "Copier en Markdown",
  copied: "Copié",
  copyFailed: "La copie a échoué",
  suggestedQuestions: "Questions suggérées",
  offline: "Vous êtes hors ligne. Votre question pourra être envoyée lorsque la connexion sera rétablie.",
  tooLong:
    "Votre question est plus longue que ce que l’IA peut lire\u00a0: seuls les premiers {percent} environ compteront. Veuillez la raccourcir.",
  wasTooLong: "Cette question était plus longue que ce que l’IA peut lire\u00a0: seul son début a compté.",
  searched: "Recherché avec votre question précédente\u00a0: {question}",
  notSaved: "Il se peut que cette réponse ne figure pas dans votre historique.",

  // Refusals, in the server's own words
  refusal:
    "Je ne dispose pas d’assez d’informations pour répondre à cette question. Vous pouvez contacter l’assistance ou reformuler votre question.",
  refusalUnreadable:
    "Dans cette langue, je ne peux chercher que les mots exacts d’une question, et ils ne suffisent pas pour y répondre. Vous pouvez essayer d’autres mots ou une autre langue, ou contacter l’assistance.",
  refusalNoAccess:
    "Il n’y a ici aucun document que vous puissiez lire. Vous pouvez vous connecter avec un autre compte ou contacter l’assistance.",
  refusalEmpty: "La base de connaissances est vide. Veuillez contacter un administrateur.",
  loading: "Chargement…",
  contactSupport: "Contacter l’assistance",
  contactSubject: "Question sur votre site web",
  rephrase: "Reformuler votre question",
  nearest: "Passages les plus proches",

  // Errors, by code
  errorUnauthorized: "Veuillez vous connecter pour poser une question.",
  errorSignInExpired: "Votre connexion n’est plus valable. Veuillez vous déconnecter, puis vous reconnecter.",
  errorSignInUnconfirmed: "Votre connexion n’a pas pu être confirmée. Veuillez réessayer.",
  errorVisitorsLimited: {
    one: "Trop de nouveaux visiteurs sont venus de votre réseau. Veuillez réessayer dans {count} seconde.",
    many: "Trop de nouveaux visiteurs sont venus de votre réseau. Veuillez réessayer dans {count} de secondes.",
    other: "Trop de nouveaux visiteurs sont venus de votre réseau. Veuillez réessayer dans {count} secondes.",
  },
  errorForbidden: "Vous n’êtes pas autorisé à poser des questions ici.",
  errorUnknownAssistant: "Cet assistant n’existe pas ou ne vous est pas accessible.",
  errorNotFound: "Cette conversation n’existe plus. Réessayez pour en commencer une nouvelle.",
  errorModelMismatch: "Cette page n’est plus à jour. Veuillez la recharger.",
  errorRateLimited: {
    one: "Vous posez vos questions plus vite qu’il n’est possible d’y répondre. Veuillez réessayer dans {count} seconde.",
    many: "Vous posez vos questions plus vite qu’il n’est possible d’y répondre. Veuillez réessayer dans {count} de secondes.",
    other:
      "Vous posez vos questions plus vite qu’il n’est possible d’y répondre. Veuillez réessayer dans {count} secondes.",
  },
  errorUnavailable: "Le service est momentanément injoignable. Veuillez réessayer dans un instant.",
  errorTimeout: "La recherche a pris trop de temps. Veuillez réessayer.",
  errorConnectionLost: "La connexion a été perdue avant que la réponse soit complète.",
  errorInvalidResponse: "Le serveur a envoyé une réponse qui n’a pas pu être lue.",
  errorInternal: "Une erreur s’est produite.",
  errorEmbedding: "Votre question n’a pas pu être traitée.",

  // Sources
  sources: { one: "{count} source", many: "{count} de sources", other: "{count} sources" },
  showMoreSources: "Afficher plus de sources",
  source: "Source {count}",
  sourceNamed: "Source {count}\u00a0: {title}",
  sourceNumber: "{count}",
  page: "Page {count}",
  passages: { one: "{count} passage", many: "{count} de passages", other: "{count} passages" },
  sourcesAgree: "{agreeing} sources sur {total} concordent",
  sourcesAgreeHelp: "Nombre de documents cités qui contiennent mot pour mot la première phrase de la réponse.",
  hedged: "Ces passages en parlent, mais ne répondent peut-être pas à la question.",
  places: {
    one: "{count} endroit à consulter",
    many: "{count} d’endroits à consulter",
    other: "{count} endroits à consulter",
  },
  alsoFound: "Également trouvé ({count})",
  alsoFoundHelp: "Proche de votre question, mais non cité dans la réponse.",
  strengthStrong: "Preuve solide",
  strengthGood: "Bonne preuve",
  strengthPartial: "Preuve partielle",
  similarity: "Similarité {score}",
  verifiedQuote: "Citation vérifiée",
  verifiedQuoteHelp:
    "Comparé dans votre navigateur\u00a0: la réponse contient ces mots exactement comme ils figurent dans ce passage, fourni par le serveur.",
  openDocument: "Ouvrir le document",
  downloadDocument: "Télécharger l’original",
  downloadFailed: "Le document n’a pas pu être téléchargé.",
  documentGone: "Le document n’est plus disponible",
  unknownDocument: "Document inconnu",
  showPassage: "Afficher le passage",
  badgeHint: "Le numéro après une phrase est sa source\u00a0: ouvrez-le pour voir les mots dans leur passage.",

  // Answers that a language model writes
  writing: "Rédaction et vérification…",
  generated: "Rédigé par un modèle de langage à partir des documents de ce site.",
  generatedCopy: "Rédigé par un modèle de langage à partir des sources citées.",
  leftOut: {
    one: "{count} phrase a été écartée, car aucune source ne l’appuie.",
    many: "{count} phrases ont été écartées, car aucune source ne les appuie.",
    other: "{count} phrases ont été écartées, car aucune source ne les appuie.",
  },
  leftOutNumber: "Nombre ou date absents de la source\u00a0: {count}",
  leftOutName: "Nom absent de la source\u00a0: {count}",
  leftOutQuote: "Mots entre guillemets absents de la source\u00a0: {count}",
  leftOutLink: "Lien, adresse ou code absents de la source\u00a0: {count}",
  leftOutPolarity: "La source dit le contraire ou pose d’autres limites\u00a0: {count}",
  leftOutOrder: "Mêmes mots dans un autre ordre, avec un autre sens\u00a0: {count}",
  leftOutUnsupported: "Aucune source ne le dit\u00a0: {count}",
  sourceSentence: "Phrase de la source",
  sourceSentenceHelp:
    "Vérifié dans votre navigateur\u00a0: ces mots figurent dans le passage fourni par le serveur. La phrase de la réponse a été vérifiée d’après eux.",
  hintGenerated: "Les réponses sont vérifiées d’après leurs sources.",
  privacy: "Comment les réponses sont rédigées",
  sendsTo:
    "Pour rédiger les réponses, votre question et les passages trouvés pour elle sont envoyés à {service}. Vos questions précédentes ne sont envoyées que si la recherche se fait avec elles. Votre compte ne l’est pas.",
  writtenOnDevice:
    "Les réponses citent les documents. Si vous le souhaitez, un modèle de langage sur cet appareil les rédige aussi avec ses propres mots, et chaque phrase est vérifiée. Rien n’est envoyé pour cela.",
  privacyDismiss: "Compris",

  // Answers that are written on this device
  write: "La rédiger en une ou deux phrases (sur cet appareil)",
  writeConsent: "Télécharger un modèle de langage\u00a0?",
  writeConsentText:
    "Il rédige les réponses sur cet appareil, avec ses propres mots\u00a0; vos questions ne sont envoyées nulle part pour cela. Il faut télécharger {size} Mo, une seule fois.",
  writeConsentBuiltIn:
    "Votre navigateur a son propre modèle de langage, qu’il doit d’abord télécharger. Cela peut représenter plusieurs gigaoctets. Il rédige les réponses sur cet appareil\u00a0; vos questions ne sont envoyées nulle part pour cela.",
  notNow: "Pas maintenant",
  writeLoading: "Chargement du modèle de langage…",
  writeNothing:
    "Le modèle de langage n’a rien écrit que les sources confirment. La réponse, ce sont les citations ci-dessous.",
  writeFailed: "La réponse n’a pas pu être rédigée sur cet appareil.",
  writeMemory: "Cet appareil n’a pas assez de mémoire pour le modèle de langage.",
  writeUnsupported: "Ce navigateur ne peut pas exécuter le modèle de langage.",
  writtenAnswer: "Réponse rédigée",
  writtenReady: "Réponse rédigée\u00a0: {text}",
  generatedOnDevice: "Rédigé sur cet appareil par un modèle de langage à partir des documents de ce site.",

  // Export of references
  exportReferences: "Exporter les références",
  exportFormat: "Format",
  exportDownload: "Télécharger",
  exportFailed: "Les références n’ont pas pu être mises en forme.",

  // Feedback
  feedback: "Votre avis sur cette réponse",
  helpful: "Utile",
  notHelpful: "Pas utile",
  feedbackWhy: "Quel est le problème avec cette réponse ?",
  feedbackWrong: "Elle est fausse",
  feedbackIncomplete: "Il manque quelque chose",
  feedbackOffTopic: "Elle répond à une autre question",
  feedbackOutdated: "Elle n’est plus à jour",
  feedbackOther: "Autre chose",
  feedbackComment: "Avec vos propres mots (facultatif)",
  feedbackShared: "Le responsable de ce site le voit avec votre question et la réponse.",
  feedbackThanks: "Merci.",
  feedbackFailed: "L’envoi a peut-être échoué. Veuillez réessayer.",

  // History
  history: "Historique",
  help: "Aide",
  historyBack: "Retour à la conversation",
  historyEmpty: "Vos conversations apparaîtront ici.",
  historyFailed: "Votre historique n’a pas pu être chargé.",
  historyMore: "Afficher les conversations plus anciennes",
  historyOpen: "Ouvrir «\u00a0{title}\u00a0»",
  historyUntitled: "Conversation sans titre",
  historySignIn: "Veuillez vous connecter pour voir vos conversations.",
  rename: "Renommer «\u00a0{title}\u00a0»",
  renameTitle: "Titre de la conversation",
  save: "Enregistrer",
  cancel: "Annuler",
  delete: "Supprimer «\u00a0{title}\u00a0»",
  deleted: "«\u00a0{title}\u00a0» a été supprimée.",
  undo: "Annuler la suppression",
  historyChangeFailed: "La modification n’a peut-être pas été enregistrée.",
  conversationRestored: "La conversation «\u00a0{title}\u00a0» est ouverte.",
  messagesFailed: "La conversation n’a pas pu être chargée.",

  // Data of the visitor
  myData: "Vos données",
  exportData: "Exporter mes données",
  exportingData: "Exportation de vos données…",
  exportDataDone: "Le fichier de vos données est complet.",
  exportDataFailed: "Vos données n’ont pas pu être exportées. Aucun fichier n’a été enregistré.",
  deleteData: "Supprimer tout ce qui me concerne",
  deleteDataTitle: "Supprimer tout ce qui vous concerne\u00a0?",
  deleteDataText:
    "Toutes vos conversations seront supprimées, avec chacune de leurs questions et réponses, ainsi que les questions restées sans réponse. Cette action est irréversible. Vous resterez connecté.",
  deleteDataYes: "Tout supprimer",
  deletingData: "Suppression de tout ce qui vous concerne…",
  deleteDataDone: "Tout ce qui vous concerne a été supprimé.",
  deleteDataFailed: "Tout n’a peut-être pas été supprimé. Veuillez réessayer.",
  myDataSignIn: "Veuillez d’abord vous connecter.",
  tooManyRequests: {
    one: "Trop de demandes. Veuillez réessayer dans {count} seconde.",
    many: "Trop de demandes. Veuillez réessayer dans {count} de secondes.",
    other: "Trop de demandes. Veuillez réessayer dans {count} secondes.",
  },
};

export const help: HelpTopics = [
  [
    "Les réponses sont des citations",
    "Chaque phrase d’une réponse est reprise mot pour mot des documents de ce site. Si un modèle de langage a rédigé une réponse, une note l’indique en dessous.",
  ],
  [
    "Vérifier la source",
    "Le numéro après une phrase est sa source. Pointez-le pour voir les mots dans leur passage, ou sélectionnez-le pour ouvrir ce passage dans la liste sous la réponse.",
  ],
  [
    "Bien poser une question",
    "Posez une seule question à la fois, en une phrase complète. Seul le début d’une question très longue est lu.",
  ],
  [
    "Pas de réponse ?",
    "Si les documents ne le disent pas, le chat l’indique au lieu de deviner. Essayez d’autres mots, ou lisez les passages les plus proches.",
  ],
  [
    "Vos conversations",
    "« {history} » les affiche. Vous pouvez y reprendre, renommer et supprimer vos conversations. Cet onglet affiche de nouveau celle en cours après un rechargement.",
  ],
  [
    "Clavier",
    "Entrée envoie, Maj+Entrée commence une nouvelle ligne. Tab mène aux sources ; Échap ferme ce qui est ouvert.",
  ],
];
