/** The texts of the launcher. They are bundled in every language, because they are shown at once. */
export interface LauncherTexts {
  /** The panel's title, unless the page gives one. */
  readonly heading: string;
  /** Before the first question. */
  readonly intro: string;
  /** Label of the floating button. */
  readonly open: string;
  readonly close: string;
  /** Label of the question box. */
  readonly question: string;
  readonly placeholder: string;
  readonly send: string;
  /** Below the question box. */
  readonly hint: string;
  /** If the panel could not be loaded. */
  readonly loadFailed: string;
  readonly retry: string;
}

export const LAUNCHER_TEXTS = {
  en: {
    heading: "Ask a question",
    intro: "What would you like to know?",
    open: "Ask a question",
    close: "Close",
    question: "Your question",
    placeholder: "Ask a question…",
    send: "Send",
    hint: "Answers quote their sources word for word.",
    loadFailed: "The chat could not be loaded. Please reload the page.",
    retry: "Retry",
  },
  de: {
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
  },
  es: {
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
  },
  fr: {
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
  },
  ar: {
    heading: "اطرح سؤالاً",
    intro: "ماذا تودّ أن تعرف؟",
    open: "اطرح سؤالاً",
    close: "إغلاق",
    question: "سؤالك",
    placeholder: "اطرح سؤالاً…",
    send: "إرسال",
    hint: "تقتبس الإجابات مصادرها حرفيًا.",
    loadFailed: "تعذّر تحميل المحادثة. أعد تحميل الصفحة.",
    retry: "إعادة المحاولة",
  },
  ja: {
    heading: "質問する",
    intro: "何をお知りになりたいですか？",
    open: "質問する",
    close: "閉じる",
    question: "ご質問",
    placeholder: "質問を入力…",
    send: "送信",
    hint: "回答は出典を一字一句そのまま引用します。",
    loadFailed: "チャットを読み込めませんでした。ページを再読み込みしてください。",
    retry: "再試行",
  },
} as const satisfies Record<string, LauncherTexts>;
