import type { HelpTopics, LauncherTexts, PanelTexts } from "./en.js";

export const launcher: LauncherTexts = {
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
};

export const panel: PanelTexts = {
  // Model
  modelLoading: "AI を準備しています…",
  modelPercent: "AI を準備しています… {percent}",
  modelBytes: "{loaded} / {total} MB",
  modelAlmostReady: "まもなく完了します",
  modelReady: "AI の準備ができました。",
  modelTimedOut: "接続がタイムアウトしました",
  modelTimedOutText: "AI を読み込めませんでした。接続をご確認ください。",
  modelFailed: "AI を読み込めませんでした",
  modelFailedText: "接続を確認してもう一度お試しいただくか、ページを再読み込みしてください。",
  modelUnsupported: "このブラウザーには対応していません",
  modelUnsupportedText:
    "ご質問はお使いのブラウザーの中で読み取られますが、このブラウザーには必要な機能がありません。Chrome、Edge、Firefox、Safari のいずれかの最新版をご利用ください。",
  modelConsent: "AI をダウンロードしますか？",
  modelConsentText:
    "ご質問はお使いのブラウザーの中で読み取られます。そのために {size} MB のダウンロードが一度だけ必要です。接続または端末に制限があるようですので、先に確認させていただきます。",
  modelConsentYes: "{size} MB をダウンロード",

  // Conversation
  conversation: "会話",
  newChat: "新しいチャット",
  youAsked: "ご質問",
  answer: "回答",
  searching: "回答を探しています…",
  answerReady: "回答：{text}",
  stop: "停止",
  stopped: "停止しました",
  retryIn: "{count} 秒後に再試行",
  connectionLost: "接続が切れました：回答は途中までです",
  incomplete: "途中までの回答",
  copy: "コピー",
  copyMarkdown: "Markdown としてコピー",
  copied: "コピーしました",
  copyFailed: "コピーできませんでした",
  suggestedQuestions: "質問の例",
  offline: "オフラインです。接続が回復するとご質問を送信できます。",
  tooLong: "ご質問が AI の読める長さを超えています。最初の約 {percent} だけが考慮されますので、短くしてください。",
  wasTooLong: "このご質問は AI の読める長さを超えていたため、最初の部分だけが考慮されました。",
  searched: "前のご質問と合わせて検索しました：{question}",
  notSaved: "この回答は履歴に残っていない可能性があります。",

  // Refusals, in the server's own words
  refusal:
    "このご質問にお答えするための十分な情報がありません。サポートに問い合わせるか、質問を言い換えてみてください。",
  refusalUnreadable:
    "この言語では、ご質問の言葉そのものでしか検索できず、お答えするのに十分な情報が見つかりません。別の言葉や別の言語を試すか、サポートに問い合わせてみてください。",
  refusalNoAccess:
    "ここには閲覧できる文書がありません。別のアカウントでサインインするか、サポートに問い合わせてみてください。",
  refusalEmpty: "ナレッジベースが空です。管理者にお問い合わせください。",
  loading: "読み込み中…",
  contactSupport: "サポートに問い合わせる",
  contactSubject: "ウェブサイトについての質問",
  rephrase: "質問を言い換える",
  nearest: "最も近い箇所",

  // Errors, by code
  errorUnauthorized: "質問するにはサインインしてください。",
  errorSignInExpired: "サインインの有効期限が切れました。一度サインアウトして、もう一度サインインしてください。",
  errorSignInUnconfirmed: "サインインを確認できませんでした。もう一度お試しください。",
  errorVisitorsLimited: {
    other: "お使いのネットワークからの新規アクセスが多すぎます。{count} 秒後にもう一度お試しください。",
  },
  errorForbidden: "ここで質問する権限がありません。",
  errorUnknownAssistant: "このアシスタントは存在しないか、ご利用いただけません。",
  errorNotFound: "この会話はもうありません。再試行すると新しい会話を始めます。",
  errorModelMismatch: "このページは古くなっています。再読み込みしてください。",
  errorRateLimited: {
    other: "質問の間隔が短すぎて回答が追いつきません。{count} 秒後にもう一度お試しください。",
  },
  errorUnavailable: "現在サービスに接続できません。しばらくしてからもう一度お試しください。",
  errorTimeout: "検索に時間がかかりすぎました。もう一度お試しください。",
  errorConnectionLost: "回答が完了する前に接続が切れました。",
  errorInvalidResponse: "サーバーからの返答を読み取れませんでした。",
  errorInternal: "問題が発生しました。",
  errorEmbedding: "ご質問を処理できませんでした。",

  // Sources
  sources: { other: "出典 {count} 件" },
  showMoreSources: "ほかの出典を表示",
  source: "出典 {count}",
  sourceNamed: "出典 {count}：{title}",
  sourceNumber: "{count}",
  page: "{count} ページ",
  passages: { other: "{count} か所" },
  sourcesAgree: "{total} 件中 {agreeing} 件の出典が一致",
  sourcesAgreeHelp: "引用された文書のうち、回答の最初の文がそのまま書かれている文書の数です。",
  hedged: "以下はこの件に関する箇所ですが、ご質問の答えではないかもしれません。",
  places: { other: "関連する箇所 {count} 件" },
  alsoFound: "ほかに見つかった箇所（{count}）",
  alsoFoundHelp: "ご質問に近いものの、回答には引用されていない箇所です。",
  strengthStrong: "強い根拠",
  strengthGood: "十分な根拠",
  strengthPartial: "部分的な根拠",
  similarity: "類似度 {score}",
  verifiedQuote: "照合済みの引用",
  verifiedQuoteHelp: "お使いのブラウザーで照合しました：回答のこれらの語句は、サーバーから届いたこの本文のとおりです。",
  openDocument: "文書を開く",
  downloadDocument: "原本をダウンロード",
  downloadFailed: "文書をダウンロードできませんでした。",
  documentGone: "この文書は利用できなくなりました",
  unknownDocument: "不明な文書",
  showPassage: "該当箇所を表示",
  badgeHint: "文の後の番号は出典です。開くと、その言葉が本文のどこにあるかを確認できます。",

  // Answers that a language model writes
  writing: "回答を作成し、照合しています…",
  generated: "このサイトの文書をもとに言語モデルが作成しました。",
  generatedCopy: "記載の出典をもとに言語モデルが作成しました。",
  leftOut: { other: "出典で裏付けられない {count} 文を省きました。" },
  leftOutNumber: "出典にない数値や日付：{count}",
  leftOutName: "出典にない名称：{count}",
  leftOutQuote: "出典にない引用語句：{count}",
  leftOutLink: "出典にないリンク・アドレス・コード：{count}",
  leftOutPolarity: "出典と逆の内容、または条件の違い：{count}",
  leftOutOrder: "同じ語でも語順により意味が異なる文：{count}",
  leftOutUnsupported: "どの出典にもない内容：{count}",
  sourceSentence: "出典の文",
  sourceSentenceHelp:
    "お使いのブラウザーで照合しました：サーバーから届いた本文にこの語句があります。回答の文はこの語句と照合されています。",
  hintGenerated: "回答は出典と照合されます。",
  privacy: "回答の作成方法",
  sendsTo:
    "回答を作成するため、ご質問と、それについて見つかった箇所が {service} に送信されます。以前のご質問は、合わせて検索する場合にのみ送信されます。アカウントは送信されません。",
  writtenOnDevice:
    "回答は文書を引用します。ご希望であれば、この端末の言語モデルが自分の言葉でも回答を作成し、一文ずつ照合します。そのために送信されるものはありません。",
  privacyDismiss: "わかりました",

  // Answers that are written on this device
  write: "一、二文で書く（この端末で）",
  writeConsent: "言語モデルをダウンロードしますか？",
  writeConsentText:
    "この端末の中で、モデルが自分の言葉で回答を作成します。そのためにご質問がどこかへ送信されることはありません。{size} MB のダウンロードが一度だけ必要です。",
  writeConsentBuiltIn:
    "お使いのブラウザーには独自の言語モデルがあり、最初にダウンロードが必要です。数ギガバイトになることがあります。回答はこの端末の中で作成され、そのためにご質問がどこかへ送信されることはありません。",
  notNow: "今はしない",
  writeLoading: "言語モデルを読み込んでいます…",
  writeNothing: "言語モデルが書いた文のうち、出典で裏付けられるものはありませんでした。下の引用が回答です。",
  writeFailed: "この端末では回答を作成できませんでした。",
  writeMemory: "この端末のメモリーは言語モデルには足りません。",
  writeUnsupported: "このブラウザーでは言語モデルを実行できません。",
  writtenAnswer: "作成された回答",
  writtenReady: "作成された回答：{text}",
  generatedOnDevice: "このサイトの文書をもとに、この端末で言語モデルが作成しました。",

  // Export of references
  exportReferences: "参考文献を書き出す",
  exportFormat: "形式",
  exportDownload: "ダウンロード",
  exportFailed: "参考文献を整形できませんでした。",

  // Feedback
  feedback: "この回答についてのご意見",
  helpful: "役に立った",
  notHelpful: "役に立たなかった",
  feedbackWhy: "この回答のどこが問題ですか？",
  feedbackWrong: "正しくない",
  feedbackIncomplete: "足りない情報がある",
  feedbackOffTopic: "別の質問への回答になっている",
  feedbackOutdated: "情報が古い",
  feedbackOther: "その他",
  feedbackComment: "ご自身の言葉で（任意）",
  feedbackShared: "サイトの運営者は、質問と回答とともにこれを見ます。",
  feedbackThanks: "ありがとうございました。",
  feedbackFailed: "送信されていない可能性があります。もう一度お試しください。",

  // History
  history: "履歴",
  help: "ヘルプ",
  historyBack: "チャットに戻る",
  historyEmpty: "会話がここに表示されます。",
  historyFailed: "履歴を読み込めませんでした。",
  historyMore: "以前の会話を表示",
  historyOpen: "「{title}」を開く",
  historyUntitled: "無題の会話",
  historySignIn: "会話を表示するにはサインインしてください。",
  rename: "「{title}」の名前を変更",
  renameTitle: "会話のタイトル",
  save: "保存",
  cancel: "キャンセル",
  delete: "「{title}」を削除",
  deleted: "「{title}」を削除しました。",
  undo: "元に戻す",
  historyChangeFailed: "変更が保存されていない可能性があります。",
  conversationRestored: "会話「{title}」を開きました。",
  messagesFailed: "会話を読み込めませんでした。",

  // Data of the visitor
  myData: "あなたのデータ",
  exportData: "自分のデータを書き出す",
  exportingData: "データを書き出しています…",
  exportDataDone: "データのファイルができました。",
  exportDataFailed: "データを書き出せませんでした。ファイルは保存されていません。",
  deleteData: "自分のデータをすべて削除",
  deleteDataTitle: "あなたのデータをすべて削除しますか？",
  deleteDataText:
    "すべての会話が、その中の質問と回答とともに削除されます。回答できなかった質問も削除されます。この操作は元に戻せません。サインインしたままになります。",
  deleteDataYes: "すべて削除",
  deletingData: "すべて削除しています…",
  deleteDataDone: "あなたのデータをすべて削除しました。",
  deleteDataFailed: "一部のデータが削除されていない可能性があります。もう一度お試しください。",
  myDataSignIn: "先にサインインしてください。",
  tooManyRequests: {
    other: "リクエストが多すぎます。{count} 秒後にもう一度お試しください。",
  },
};

export const help: HelpTopics = [
  [
    "回答は引用です",
    "回答の文はすべて、このサイトの文書からそのまま引用したものです。言語モデルが書いた回答には、その旨が下に表示されます。",
  ],
  [
    "出典を確認する",
    "文の後の番号は出典です。番号にカーソルを合わせると本文中の該当箇所が表示され、選択すると回答の下の一覧でその箇所が開きます。",
  ],
  ["質問のしかた", "一度に一つのことを、文の形で質問してください。非常に長い質問は、初めの部分だけが読み取られます。"],
  [
    "回答がないとき",
    "文書に書かれていない場合は、推測せずにその旨をお伝えします。別の言葉で質問するか、近い箇所をお読みください。",
  ],
  [
    "会話",
    "「{history}」に一覧があり、会話を続けたり、名前を変更したり、削除したりできます。再読み込みしても、このタブには現在の会話が表示されます。",
  ],
  ["キーボード", "Enter で送信、Shift+Enter で改行します。Tab で出典に移動し、Escape で開いているものを閉じます。"],
];
