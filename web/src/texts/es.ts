import type { HelpTopics, LauncherTexts, PanelTexts } from "./en.js";

export const launcher: LauncherTexts = {
  heading: "Haga una pregunta",
  intro: "¿Qué le gustaría saber?",
  open: "Hacer una pregunta",
  close: "Cerrar",
  question: "Su pregunta",
  placeholder: "Escriba una pregunta…",
  send: "Enviar",
  hint: "Las respuestas citan sus fuentes palabra por palabra.",
  loadFailed: "No se pudo cargar el chat. Recargue la página.",
  retry: "Reintentar",
};

export const panel: PanelTexts = {
  // Model
  modelLoading: "Iniciando la IA…",
  modelPercent: "Iniciando la IA… {percent}",
  modelBytes: "{loaded} de {total} MB",
  modelAlmostReady: "Casi listo",
  modelReady: "La IA está lista.",
  modelTimedOut: "Se agotó el tiempo de conexión",
  modelTimedOutText: "No se pudo cargar la IA. Compruebe su conexión.",
  modelFailed: "No se pudo cargar la IA",
  modelFailedText: "Compruebe su conexión e inténtelo de nuevo, o recargue la página.",
  modelUnsupported: "Navegador no compatible",
  modelUnsupportedText:
    "Las preguntas se leen en su navegador, y a este le falta lo necesario. Utilice una versión reciente de Chrome, Edge, Firefox o Safari.",
  modelConsent: "¿Descargar la IA?",
  modelConsentText:
    "Las preguntas se leen en su navegador. Para ello hay que descargar {size} MB, una sola vez. Su conexión o su dispositivo parecen limitados, por eso preguntamos antes.",
  modelConsentYes: "Descargar {size} MB",

  // Conversation
  conversation: "Conversación",
  newChat: "Nuevo chat",
  youAsked: "Su pregunta",
  answer: "Respuesta",
  searching: "Buscando una respuesta…",
  answerReady: "Respuesta: {text}",
  stop: "Detener",
  stopped: "Detenido",
  retryIn: "Reintentar en {count} s",
  connectionLost: "Se perdió la conexión: la respuesta está incompleta",
  incomplete: "Respuesta incompleta",
  copy: "Copiar",
  copyMarkdown: "Copiar como Markdown",
  copied: "Copiado",
  copyFailed: "No se pudo copiar",
  suggestedQuestions: "Preguntas sugeridas",
  offline: "No tiene conexión. Podrá enviar su pregunta cuando se restablezca.",
  tooLong:
    "Su pregunta es más larga de lo que la IA puede leer: solo contará aproximadamente el primer {percent}. Acórtela, por favor.",
  wasTooLong: "Esta pregunta era más larga de lo que la IA puede leer: solo contó su comienzo.",
  searched: "Se buscó junto con su pregunta anterior: {question}",
  notSaved: "Es posible que esta respuesta no esté en su historial.",

  // Refusals, in the server's own words
  refusal:
    "No tengo información suficiente para responder a esa pregunta. Puede contactar con el soporte o reformular su pregunta.",
  refusalUnreadable:
    "En este idioma solo puedo buscar las palabras exactas de una pregunta, y con ellas no encuentro lo suficiente para responderla. Puede probar con otras palabras o con otro idioma, o contactar con el soporte.",
  refusalNoAccess:
    "Aquí no hay ningún documento que usted pueda leer. Puede iniciar sesión con otra cuenta o contactar con el soporte.",
  refusalEmpty: "La base de conocimientos está vacía. Póngase en contacto con un administrador.",
  loading: "Cargando…",
  contactSupport: "Contactar con el soporte",
  contactSubject: "Pregunta sobre su sitio web",
  rephrase: "Reformular la pregunta",
  nearest: "Pasajes más cercanos",

  // Errors, by code
  errorUnauthorized: "Inicie sesión para hacer una pregunta.",
  errorSignInExpired: "Su sesión ya no es válida. Ciérrela y vuelva a iniciarla.",
  errorSignInUnconfirmed: "No se pudo confirmar su sesión. Inténtelo de nuevo.",
  errorVisitorsLimited: {
    one: "Han llegado demasiados visitantes nuevos desde su red. Inténtelo de nuevo en {count} segundo.",
    many: "Han llegado demasiados visitantes nuevos desde su red. Inténtelo de nuevo en {count} de segundos.",
    other: "Han llegado demasiados visitantes nuevos desde su red. Inténtelo de nuevo en {count} segundos.",
  },
  errorForbidden: "No tiene permiso para hacer preguntas aquí.",
  errorUnknownAssistant: "Este asistente no existe o no está disponible para usted.",
  errorNotFound: "Esta conversación ya no existe. Reinténtelo para empezar una nueva.",
  errorModelMismatch: "Esta página no está actualizada. Vuelva a cargarla.",
  errorRateLimited: {
    one: "Pregunta más rápido de lo que se puede responder. Inténtelo de nuevo en {count} segundo.",
    many: "Pregunta más rápido de lo que se puede responder. Inténtelo de nuevo en {count} de segundos.",
    other: "Pregunta más rápido de lo que se puede responder. Inténtelo de nuevo en {count} segundos.",
  },
  errorUnavailable: "En este momento no se puede acceder al servicio. Inténtelo de nuevo dentro de un momento.",
  errorTimeout: "La búsqueda tardó demasiado. Inténtelo de nuevo.",
  errorConnectionLost: "La conexión se perdió antes de que la respuesta estuviera completa.",
  errorInvalidResponse: "El servidor envió una respuesta que no se pudo leer.",
  errorInternal: "Algo salió mal.",
  errorEmbedding: "No se pudo procesar su pregunta.",

  // Sources
  sources: { one: "{count} fuente", many: "{count} de fuentes", other: "{count} fuentes" },
  showMoreSources: "Mostrar más fuentes",
  source: "Fuente {count}",
  sourceNamed: "Fuente {count}: {title}",
  sourceNumber: "{count}",
  page: "Página {count}",
  passages: { one: "{count} pasaje", many: "{count} de pasajes", other: "{count} pasajes" },
  sourcesAgree: "{agreeing} de {total} fuentes coinciden",
  sourcesAgreeHelp: "Tantos de los documentos citados contienen literalmente la primera frase de la respuesta.",
  hedged: "Estos pasajes tratan de ello, pero puede que no respondan a la pregunta.",
  places: {
    one: "{count} lugar donde mirar",
    many: "{count} de lugares donde mirar",
    other: "{count} lugares donde mirar",
  },
  alsoFound: "También se encontró ({count})",
  alsoFoundHelp: "Cerca de su pregunta, pero no citado en la respuesta.",
  strengthStrong: "Evidencia sólida",
  strengthGood: "Evidencia buena",
  strengthPartial: "Evidencia parcial",
  similarity: "Similitud {score}",
  verifiedQuote: "Cita verificada",
  verifiedQuoteHelp:
    "Comparado en su navegador: la respuesta contiene estas palabras exactamente como figuran en este pasaje, entregado por el servidor.",
  openDocument: "Abrir documento",
  downloadDocument: "Descargar el original",
  downloadFailed: "No se pudo descargar el documento.",
  documentGone: "El documento ya no está disponible",
  unknownDocument: "Documento desconocido",
  showPassage: "Mostrar pasaje",
  badgeHint: "El número tras una frase es su fuente: ábralo para ver las palabras en su pasaje.",

  // Answers that a language model writes
  writing: "Redactando y comprobando…",
  generated: "Redactado por un modelo de lenguaje a partir de los documentos de este sitio.",
  generatedCopy: "Redactado por un modelo de lenguaje a partir de las fuentes citadas.",
  leftOut: {
    one: "Se omitió {count} frase porque ninguna fuente la respalda.",
    many: "Se omitieron {count} frases porque ninguna fuente las respalda.",
    other: "Se omitieron {count} frases porque ninguna fuente las respalda.",
  },
  leftOutNumber: "Número o fecha que no están en la fuente: {count}",
  leftOutName: "Nombre que no está en la fuente: {count}",
  leftOutQuote: "Palabras entrecomilladas que no están en la fuente: {count}",
  leftOutLink: "Enlace, dirección o código que no están en la fuente: {count}",
  leftOutPolarity: "La fuente dice lo contrario o pone otros límites: {count}",
  leftOutOrder: "Las mismas palabras en otro orden, con otro sentido: {count}",
  leftOutUnsupported: "Ninguna fuente lo dice: {count}",
  sourceSentence: "Frase de la fuente",
  sourceSentenceHelp:
    "Comprobado en su navegador: el pasaje entregado por el servidor contiene estas palabras. La frase de la respuesta se ha comprobado con ellas.",
  hintGenerated: "Las respuestas se comprueban con sus fuentes.",
  privacy: "Cómo se redactan las respuestas",
  sendsTo:
    "Para redactar las respuestas, su pregunta y los pasajes encontrados para ella se envían a {service}. Sus preguntas anteriores solo se envían si se busca junto con ellas. Su cuenta no se envía.",
  writtenOnDevice:
    "Las respuestas citan los documentos. Si lo desea, un modelo de lenguaje en este dispositivo las redacta además con sus propias palabras, y cada frase se comprueba. Para ello no se envía nada.",
  privacyDismiss: "Entendido",

  // Answers that are written on this device
  write: "Redactarla en una o dos frases (en este dispositivo)",
  writeConsent: "¿Descargar un modelo de lenguaje?",
  writeConsentText:
    "Redacta las respuestas en este dispositivo, con sus propias palabras; sus preguntas no se envían a ningún sitio para ello. Hay que descargar {size} MB, una sola vez.",
  writeConsentBuiltIn:
    "Su navegador tiene un modelo de lenguaje propio, que antes debe descargar. Pueden ser varios gigabytes. Redacta las respuestas en este dispositivo; sus preguntas no se envían a ningún sitio para ello.",
  notNow: "Ahora no",
  writeLoading: "Cargando el modelo de lenguaje…",
  writeNothing:
    "El modelo de lenguaje no ha escrito nada que las fuentes respalden. La respuesta son las citas de abajo.",
  writeFailed: "No se pudo redactar la respuesta en este dispositivo.",
  writeMemory: "Este dispositivo no tiene memoria suficiente para el modelo de lenguaje.",
  writeUnsupported: "Este navegador no puede ejecutar el modelo de lenguaje.",
  writtenAnswer: "Respuesta redactada",
  writtenReady: "Respuesta redactada: {text}",
  generatedOnDevice:
    "Redactado en este dispositivo por un modelo de lenguaje a partir de los documentos de este sitio.",

  // Export of references
  exportReferences: "Exportar referencias",
  exportFormat: "Formato",
  exportDownload: "Descargar",
  exportFailed: "No se pudo dar formato a las referencias.",

  // Feedback
  feedback: "Su opinión sobre esta respuesta",
  helpful: "Útil",
  notHelpful: "No es útil",
  feedbackWhy: "¿Qué falla en esta respuesta?",
  feedbackWrong: "No es cierta",
  feedbackIncomplete: "Falta algo",
  feedbackOffTopic: "Responde a otra pregunta",
  feedbackOutdated: "No está actualizada",
  feedbackOther: "Otra cosa",
  feedbackComment: "Con sus propias palabras (opcional)",
  feedbackShared: "El responsable de este sitio lo ve junto con su pregunta y la respuesta.",
  feedbackThanks: "Gracias.",
  feedbackFailed: "Es posible que no se haya enviado. Inténtelo de nuevo.",

  // History
  history: "Historial",
  help: "Ayuda",
  historyBack: "Volver al chat",
  historyEmpty: "Aquí aparecerán sus conversaciones.",
  historyFailed: "No se pudo cargar su historial.",
  historyMore: "Mostrar conversaciones anteriores",
  historyOpen: "Abrir «{title}»",
  historyUntitled: "Conversación sin título",
  historySignIn: "Inicie sesión para ver sus conversaciones.",
  rename: "Cambiar el nombre de «{title}»",
  renameTitle: "Título de la conversación",
  save: "Guardar",
  cancel: "Cancelar",
  delete: "Eliminar «{title}»",
  deleted: "«{title}» se ha eliminado.",
  undo: "Deshacer",
  historyChangeFailed: "Es posible que el cambio no se haya guardado.",
  conversationRestored: "La conversación «{title}» está abierta.",
  messagesFailed: "No se pudo cargar la conversación.",

  // Data of the visitor
  myData: "Sus datos",
  exportData: "Exportar mis datos",
  exportingData: "Exportando sus datos…",
  exportDataDone: "El archivo con sus datos está completo.",
  exportDataFailed: "No se pudieron exportar sus datos. No se guardó ningún archivo.",
  deleteData: "Eliminar todo lo mío",
  deleteDataTitle: "¿Eliminar todo lo suyo?",
  deleteDataText:
    "Se eliminarán todas sus conversaciones, con todas sus preguntas y respuestas, también las preguntas que no se pudieron responder. No se puede deshacer. Su sesión seguirá iniciada.",
  deleteDataYes: "Eliminar todo",
  deletingData: "Eliminando todo lo suyo…",
  deleteDataDone: "Se ha eliminado todo lo suyo.",
  deleteDataFailed: "Es posible que no se haya eliminado todo lo suyo. Inténtelo de nuevo.",
  myDataSignIn: "Inicie sesión primero.",
  tooManyRequests: {
    one: "Demasiadas solicitudes. Inténtelo de nuevo en {count} segundo.",
    many: "Demasiadas solicitudes. Inténtelo de nuevo en {count} de segundos.",
    other: "Demasiadas solicitudes. Inténtelo de nuevo en {count} segundos.",
  },
};

export const help: HelpTopics = [
  [
    "Las respuestas son citas",
    "Cada frase de una respuesta está tomada palabra por palabra de los documentos de este sitio. Si un modelo de lenguaje escribió una respuesta, una nota debajo lo indica.",
  ],
  [
    "Compruebe la fuente",
    "El número tras una frase es su fuente. Señálelo para ver las palabras en su pasaje, o selecciónelo para abrir ese pasaje en la lista que sigue a la respuesta.",
  ],
  [
    "Cómo preguntar",
    "Pregunte una sola cosa cada vez, con una frase completa. De una pregunta muy larga solo se lee el principio.",
  ],
  [
    "¿No hay respuesta?",
    "Si los documentos no lo dicen, el chat lo indica en lugar de adivinar. Pruebe con otras palabras o lea los pasajes más cercanos.",
  ],
  [
    "Sus conversaciones",
    "«{history}» las muestra. Allí puede continuarlas, cambiarles el nombre y eliminarlas. Esta pestaña vuelve a mostrar la actual al recargar la página.",
  ],
  [
    "Teclado",
    "Intro envía; Mayús+Intro empieza una línea nueva. Tab lleva a las fuentes; Escape cierra lo que esté abierto.",
  ],
];
