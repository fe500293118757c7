import type { HelpTexts } from "./en.js";

export const texts: HelpTexts = {
  topics: [
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
  ],
};
