import type { HelpTexts } from "./en.js";

export const texts: HelpTexts = {
  topics: [
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
  ],
};
