import type { HelpTexts } from "./en.js";

export const texts: HelpTexts = {
  topics: [
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
  ],
};
