//! Words that tie a sentence or heading to other text, in the languages that kb calibrates: English, German, French, Spanish, Italian,
//! Portuguese and Dutch. A word that a language uses at the start of many sentences that stand alone (articles, "es gibt", "il y a") is
//! left out or excepted: each word here costs a longer quote.

/// Words or phrases that refer to the sentence before when they begin one.
const POINTERS: &[&str] = &[
    // English
    "accordingly, also, another, as a result, both, but, consequently, either, else, even then, except, he, hence, her, his, \
     however, if it, if not, if so, if they, if this, in addition, in both cases, in that case, in this case, instead, it, \
     its, likewise, moreover, neither, nevertheless, nor, nonetheless, or, otherwise, she, similarly, so, such, that, the \
     former, the latter, the other, the others, the same, their, then, therefore, these, they, this, those, though, thus, \
     unless, until then, which, without it, without them, yet",
    // German
    "aber, allerdings, also, andernfalls, ansonsten, auch, ausgenommen, außer, außerdem, beide, dabei, dadurch, dafür, \
     dagegen, daher, damit, danach, dann, daran, darauf, daraus, darin, darüber, darum, das gilt, das ist, dasselbe, davon, \
     dazu, dementsprechend, denn, dennoch, deren, deshalb, dessen, deswegen, dies, diese, diesem, diesen, dieser, dieses, \
     doch, ebenso, er, ferner, gleiches, hierbei, hierfür, hiervon, hierzu, ihre, in diesem fall, in beiden fällen, jedoch, \
     oder, seine, solche, sondern, sonst, stattdessen, trotzdem, zudem, zusätzlich",
    // French
    "ainsi, alors, aussi, autrement, ce, ceci, cela, celle, celles, celui, cependant, ces, cet, cette, ceux, c'est, dans ce \
     cas, de même, donc, elle, elles, en outre, en revanche, il, ils, la même, le même, les mêmes, leur, leurs, mais, même, \
     néanmoins, or, ou, par conséquent, pourtant, sa, sauf, ses, sinon, son, toutefois",
    // Spanish
    "además, ambos, así, aun así, de lo contrario, ella, ellas, ello, ellos, en cambio, en ese caso, en este caso, entonces, \
     esa, esas, ese, eso, esos, esta, estas, este, esto, estos, excepto, lo mismo, no obstante, pero, por eso, por lo tanto, \
     salvo, si no, sin embargo, su, sus, también, tampoco, él",
    // Italian
    "anche, altrimenti, ciò, essa, esse, essi, esso, eccetto, inoltre, in questo caso, in tal caso, invece, lo stesso, ma, \
     neppure, perciò, però, pertanto, quello, questa, queste, questi, questo, quindi, tranne, tuttavia",
    // Portuguese
    "além disso, ambos, assim, caso contrário, contudo, ela, elas, ele, eles, essa, essas, esse, esses, exceto, isso, isto, \
     mas, nesse caso, neste caso, no entanto, o mesmo, por isso, portanto, porém, também, tampouco",
    // Dutch
    "anders, behalve, bovendien, daarbij, daarna, daarom, daarvoor, dan, dat, deze, dit, dus, echter, hetzelfde, hierbij, \
     hiervoor, hij, in dat geval, maar, ook, tenzij, toch, zij, zo",
];

/// Beginnings that [`POINTERS`] contains but that stand alone.
const STANDS_ALONE: &[&str] = &[
    "so that, that is why, its own, il y a, il faut, il est, il existe, il s'agit, or else, another way, su pedido, dan wel, \
     then again, both of, either of",
];

/// Words that make an exception to the sentence before when they begin one.
const EXCEPTIONS: &[&str] = &[
    "but, except, however, nevertheless, this does not, this doesn't, it does not, it doesn't, they do not, they don't, that \
     is not, this is not, it is not, unless, neither does, neither do, not so, no longer, only if, aber, allerdings, \
     ausgenommen, außer, das gilt nicht, dies gilt nicht, jedoch, doch, nicht aber, cependant, cela ne, ceci ne, mais, sauf, \
     toutefois, en revanche, excepto, esto no, no obstante, pero, salvo, sin embargo, ciò non, eccetto, ma, però, questo non, \
     tranne, tuttavia, contudo, exceto, isso não, isto não, mas, no entanto, porém, behalve, dit geldt niet, echter, maar, \
     tenzij",
];

/// Words of a heading that negate or limit what is below it.
const LIMITS: &[&str] = &[
    // English
    "archived, beta, beyond, cannot, deprecated, discontinued, draft, except, excepted, exception, exceptions, excluded, \
     excluding, exclusion, exclusions, experimental, expired, forbidden, former, formerly, invalid, legacy, limitations, \
     limits, never, no, non, none, not, obsolete, old, older, only, optional, outdated, past, planned, previous, prohibited, \
     removed, restrictions, retired, unavailable, uncovered, unless, unsupported, until, upcoming, without, wrong, before, \
     after, don, doesn, isn, aren, can't, won",
    // German
    "alt, alte, alter, altes, ausgenommen, ausgeschlossen, ausnahme, ausnahmen, ausschluss, ausschlüsse, außer, bis, ehemals, \
     entfernt, früher, frühere, kein, keine, keinen, keiner, nicht, nie, niemals, nur, ohne, unzulässig, veraltet, verboten, \
     vor, nach, ungültig, entfällt",
    // French
    "ancien, ancienne, anciens, aucun, aucune, avant, après, exceptions, exclu, exclue, exclus, hors, interdit, interdits, \
     jamais, jusqu, limites, ne, non, obsolète, pas, sans, sauf, seulement, uniquement",
    // Spanish
    "antes, antiguo, antigua, después, excepciones, excepto, excluido, excluidos, exclusiones, hasta, jamás, ningún, ninguno, \
     nunca, obsoleto, prohibido, salvo, sin, solo, sólo, solamente, únicamente",
    // Italian
    "dopo, eccetto, eccezioni, escluso, esclusi, esclusioni, fino, mai, nessun, nessuno, obsoleto, prima, senza, solo, \
     tranne, vecchio, vecchia, vietato",
    // Portuguese
    "antigo, antiga, apenas, até, depois, exceto, exceções, excluído, exclusões, nenhum, não, proibido, sem, somente",
    // Dutch
    "alleen, behalve, geen, niet, nooit, oud, oude, slechts, tot, uitgezonderd, uitsluitingen, uitzonderingen, verboden, \
     verouderd, voor, zonder, na",
];

/// Words that begin a heading which says for whom, where or when what is below it holds.
const SCOPES: &[&str] = &[
    "for, if, in, on, when, with, during, für, wenn, falls, bei, im, mit, während, pour, si, dans, en, avec, chez, lors, \
     para, con, cuando, per, se, nel, quando, com, em, voor, als, bij, met, tijdens",
];

/// How a text names itself.
const THIS_DOCUMENT: &[&str] = &[
    "this page, this document, this article, this guide, this policy, this version, this section, this documentation, this \
     manual, these terms, these instructions, diese seite, dieses dokument, dieser artikel, diese anleitung, diese \
     richtlinie, diese version, diese bedingungen, cette page, ce document, cet article, ce guide, cette version, ces \
     conditions, esta página, este documento, este artículo, esta guía, esta versión, estas condiciones, questa pagina, \
     questo documento, questo articolo, questa guida, questa versione, este artigo, este guia, esta versão, deze pagina, dit \
     document, dit artikel, deze handleiding, deze versie",
];

/// Words with which a text limits itself, besides [`LIMITS`].
const LIMITS_OF_DOCUMENTS: &[&str] = &[
    "about, apply, applies, describes, valid, version, gilt, gelten, beschreibt, gültig, concerne, décrit, valable, describe, \
     aplica, aplican, válido, válida, descrive, vale, valgono, descreve, geldt, gelden, beschrijft",
];

/// Beginnings of a warning.
const WARNINGS: &[&str] = &[
    "never, do not, don't, warning, caution, danger, important, be careful, nie, niemals, nicht, achtung, warnung, vorsicht, \
     wichtig, ne, jamais, attention, avertissement, nunca, no, advertencia, atención, cuidado, mai, non, attenzione, avviso, \
     não, atenção, aviso, nooit, let op, waarschuwing, pas op",
];

/// Words that negate a short sentence.
const NEGATIONS: &[&str] = &[
    "not, never, no, don, doesn, isn, aren, can't, cannot, won, nicht, nie, kein, keine, pas, jamais, non, mai, nunca, não, \
     niet, nooit, geen",
];

/// A short sentence that points back and negates refutes the sentence before it.
const MAX_REFUTATION_WORDS: usize = 4;

/// Whether a sentence cannot be understood without the one before it.
pub(super) fn refers_back(sentence: &str) -> bool {
    let words = words(sentence);
    !begins_with(&words, STANDS_ALONE) && !begins_with(&words, THIS_DOCUMENT) && begins_with(&words, POINTERS)
}

/// Whether a sentence refutes the one before it or makes an exception to it.
pub(super) fn is_exception(sentence: &str) -> bool {
    let words = words(sentence);
    let is_refutation = || {
        words.len() <= MAX_REFUTATION_WORDS
            && begins_with(&words, POINTERS)
            && words.iter().any(|word| is_in(word, NEGATIONS))
    };
    begins_with(&words, EXCEPTIONS) || is_refutation()
}

/// Whether a heading negates or limits what is below it: by a word, a year, a version, or a place or case at its start.
pub(super) fn limits(heading: &str) -> bool {
    let words = words(heading);
    let is_number = |word: &String| word.chars().any(|c| c.is_ascii_digit());
    // The number of a chapter does not limit.
    words.iter().any(|word| is_in(word, LIMITS))
        || words.iter().skip(1).any(is_number)
        || (words.len() > 1 && words.first().is_some_and(|word| is_in(word, SCOPES)))
}

/// Whether a sentence at the top of a document says what the document does not hold for.
pub(super) fn is_notice(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    let words = words(sentence);
    let has = |list| words.iter().any(|word| is_in(word, list));
    phrases(THIS_DOCUMENT).any(|name| lower.contains(name)) && (has(LIMITS) || has(LIMITS_OF_DOCUMENTS))
}

/// Whether a sentence warns of what is above it.
pub(super) fn is_warning(sentence: &str) -> bool {
    begins_with(&words(sentence), WARNINGS)
}

/// Whether a sentence asks.
pub(super) fn is_question(sentence: &str) -> bool {
    without_closers(sentence).ends_with(['?', '？', '؟', '⁇', ';'])
        && !without_closers(sentence).ends_with(';')
}

/// Whether a sentence announces what follows.
pub(super) fn ends_with_colon(sentence: &str) -> bool {
    without_closers(sentence).ends_with([':', '：'])
}

/// Whether a paragraph is marked as a question: "Q: …", "Frage 3: …".
pub(super) fn is_marked_question(paragraph: &str) -> bool {
    const MARKS: [&str; 9] =
        ["q", "question", "f", "frage", "pregunta", "domanda", "pergunta", "vraag", "faq"];
    let Some((mark, _)) = paragraph.split_once([':', '：', '.']) else { return false };
    let mark = mark.trim().to_lowercase();
    let name = mark.trim_end_matches(|c: char| c.is_ascii_digit() || c == ' ');
    MARKS.contains(&name)
}

fn without_closers(sentence: &str) -> &str {
    sentence.trim_end().trim_end_matches(['"', '”', '’', '\'', '»', ')', ']', ' '])
}

/// The words of a text in lower case; an apostrophe separates, but stays in French "c'est" and English "doesn't" by the lists' own forms.
fn words(text: &str) -> Vec<String> {
    let text = text.to_lowercase().replace('’', "'");
    text.split(|c: char| !(c.is_alphanumeric() || c == '\''))
        .map(|word| word.trim_matches('\''))
        .filter(|word| !word.is_empty())
        .flat_map(|word| match word.split_once('\'') {
            // "don't" is "don" and "t", "it's" is "it".
            Some((before, _)) if !matches!(before, "c" | "s" | "can" | "doesn") => vec![before.to_owned()],
            _ => vec![word.to_owned()],
        })
        .collect()
}

/// The phrases of a list, whose lines are lists themselves.
fn phrases(list: &'static [&'static str]) -> impl Iterator<Item = &'static str> {
    list.iter().flat_map(|line| line.split(", "))
}

fn is_in(word: &str, list: &'static [&'static str]) -> bool {
    phrases(list).any(|other| other == word)
}

/// Whether words begin with one of the phrases.
fn begins_with(words: &[String], phrases: &'static [&'static str]) -> bool {
    self::phrases(phrases).any(|phrase| {
        let mut of_phrase = phrase.split(' ');
        let mut of_text = words.iter();
        of_phrase.all(|word| of_text.next().is_some_and(|other| other == word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_that_point_back_are_recognized_in_each_language() {
        for sentence in [
            "It is free.",
            "They cost 5 euros.",
            "However, in that case we deduct 10 euros.",
            "The same applies to notes.",
            "It's open.",
            "Er enthält Telefon-Support.",
            "Dies gilt nicht für Bücher.",
            "Elle est gratuite.",
            "Sin embargo, es gratis.",
            "Questo è gratuito.",
            "Isso custa 5 euros.",
            "Dit geldt niet.",
        ] {
            assert!(refers_back(sentence), "{sentence}");
        }
        for sentence in [
            "Items are free.",
            "",
            "…",
            "Italy is far.",
            "We ship it.",
            "Es gibt drei Tarife.",
            "Il y a trois tarifs.",
            "Sie können zahlen.",
        ] {
            assert!(!refers_back(sentence), "{sentence}");
        }
    }

    #[test]
    fn exceptions_and_refutations_are_recognized() {
        for sentence in [
            "It does not.",
            "Except on Sundays.",
            "This does not apply to books.",
            "Das gilt nicht für Bücher.",
            "Sauf le dimanche.",
            "They never do.",
        ] {
            assert!(is_exception(sentence), "{sentence}");
        }
        for sentence in ["It is free.", "We do not ship to the islands.", "Das gilt für Bücher."] {
            assert!(!is_exception(sentence), "{sentence}");
        }
    }

    #[test]
    fn headings_that_limit_are_recognized() {
        for heading in [
            "What is not covered",
            "Deprecated",
            "Exclusions",
            "For business customers",
            "In Germany",
            "Prices 2023",
            "Nicht versichert",
            "Sans garantie",
            "Version 1.2",
            "If you are late",
            "Solo para socios",
            "Until May",
        ] {
            assert!(limits(heading), "{heading}");
        }
        for heading in ["Refunds", "Shipping and delivery", "3. Prices", "Opening hours", "Preise"] {
            assert!(!limits(heading), "{heading}");
        }
    }

    #[test]
    fn notices_speak_about_their_document() {
        assert!(is_notice("This page is about version 2, which is no longer supported."));
        assert!(is_notice("Diese Anleitung gilt nur für das Modell B."));
        assert!(!is_notice("We do not ship on Sundays.") && !is_notice("This page lists all our shops."));
    }

    #[test]
    fn questions_are_recognized() {
        assert!(is_question("Can I (really)?") && is_question("How?”") && !is_question("Yes."));
        assert!(
            is_marked_question("Q: Can I?")
                && is_marked_question("Frage 3: Wie")
                && !is_marked_question("Question time is at 5")
        );
    }
}
