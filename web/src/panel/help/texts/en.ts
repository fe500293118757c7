/** The texts of the help. */
export interface HelpTexts {
  /** Heading and text of each topic. `{history}` is the name of the button. */
  readonly topics: readonly (readonly [heading: string, text: string])[];
}

export const texts: HelpTexts = {
  topics: [
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
  ],
};
