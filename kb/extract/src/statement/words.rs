//! Words that tie a sentence or heading to other text, in the languages that kb calibrates: English, German, French, Spanish, Italian,
//! Portuguese and Dutch. A word that a language uses at the start of many sentences that stand alone (articles, "es gibt", "il y a") is
//! left out or excepted: each word here costs a longer quote.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::clean::ends_sentence;

/// Words or phrases that refer to the sentence before when they begin one.
static POINTERS: Phrases = Phrases::new(&[
    // English
    "accordingly, also, another, as a result, both, but, consequently, either, else, even then, except, he, hence, her, his, \
     however, if it, if not, if so, if they, if this, in addition, in both cases, in that case, in this case, instead, it, \
     its, likewise, moreover, neither, nevertheless, nor, nonetheless, or, otherwise, she, similarly, so, such, that, the \
     former, the latter, the other, the others, the same, their, then, therefore, these, they, this, those, though, thus, \
     unless, until then, which, without it, without them, yet, above that, after that, afterwards, all others, all the \
     others, among them, apart from that, at that time, because of this, before that, below that, beyond that, by contrast, \
     by then, conversely, doing so, e g, even so, for example, for instance, for this, for that, from then on, i e, if that, \
     in contrast, in reality, in that event, in this way, in which case, meanwhile, most of them, none of them, on the \
     other hand, one of them, only then, since then, some of them, the above, the foregoing, exception, exceptions, the first is, the \
     first one, the last is, the last one, the new one, the old one, the rest is, the rest are, the second is, the second one, \
     to do so, to do this, under it",
    // German
    "aber, allerdings, also, andernfalls, ansonsten, auch, ausgenommen, außer, außerdem, beide, dabei, dadurch, dafür, \
     dagegen, daher, damit, danach, dann, daran, darauf, daraus, darin, darüber, darum, das gilt, das ist, dasselbe, davon, \
     dazu, dementsprechend, denn, dennoch, deren, deshalb, dessen, deswegen, dies, diese, diesem, diesen, dieser, dieses, \
     doch, ebenso, er, ferner, gleiches, hierbei, hierfür, hiervon, hierzu, ihre, in diesem fall, in beiden fällen, jedoch, \
     oder, seine, solche, sondern, sonst, stattdessen, trotzdem, zudem, zusätzlich, alle anderen, alle übrigen, andere, \
     anschließend, beispielsweise, bis dahin, darunter, davor, die anderen, die übrigen, erstere, ersterer, ersteres, falls \
     dies, falls ja, falls nicht, im gegensatz dazu, in dem fall, in diesem falle, in wirklichkeit, letztere, letzterer, \
     letzteres, seitdem, seither, stimmt das, trifft dies, wenn dies, wenn ja, wenn nicht, z b, zum \
     beispiel, keine von beiden, keiner von beiden, keines von beiden, das vorstehende, vorstehendes, ausnahme, ausnahmen, \
     es enthält, es gilt, es hat, es ist, es kostet",
    // French
    "ainsi, alors, aussi, autrement, ce, ceci, cela, celle, celles, celui, cependant, ces, cet, cette, ceux, c'est, dans ce \
     cas, de même, donc, elle, elles, en outre, en revanche, il, ils, la même, le même, les mêmes, leur, leurs, mais, même, \
     néanmoins, or, ou, par conséquent, pourtant, sa, sauf, ses, sinon, son, toutefois, après cela, auquel cas, avant cela, \
     dans le cas contraire, dans le cas inverse, dans le premier cas, depuis, en ce cas, en pareil cas, en réalité, \
     en voici, ensuite, la dernière est, la première est, la seconde est, le dernier est, le premier est, le premier \
     non, le second est, les autres, les premiers, \
     par exemple, par la suite, passé ce délai, p ex, puis, si oui, si tel, tous deux, tous les autres, toutes deux, y \
     compris, au delà, ce qui précède",
    // Spanish
    "además, ambos, así, aun así, de lo contrario, ella, ellas, ello, ellos, en cambio, en ese caso, en este caso, entonces, \
     esa, esas, ese, eso, esos, esta, estas, este, esto, estos, excepto, lo mismo, no obstante, pero, por eso, por lo tanto, \
     salvo, si no, sin embargo, su, sus, también, tampoco, él, al contrario, antes de eso, aquel, aquella, aquellos, de no \
     ser así, de ser así, desde entonces, después, el primero, el resto, el último es, el último no, en caso afirmativo, en caso contrario, en \
     realidad, en tal caso, entre ellos, la primera es, la última es, las demás, las otras, los demás, los otros, luego, otras, \
     otros, p ej, por ejemplo, si es así, todos los demás, lo anterior, excepción, excepciones, ninguno, cuesta, dura, es válida, es válido, incluye, no cubre, \
     no es válida, no es válido, no incluye, no se aplica, se devuelve, se renueva",
    // Italian
    "anche, altrimenti, ciò, essa, esse, essi, esso, eccetto, inoltre, in questo caso, in tal caso, invece, lo stesso, ma, \
     neppure, perciò, però, pertanto, quello, questa, queste, questi, questo, quindi, tranne, tuttavia, ad esempio, al \
     contrario, altri, da allora, dopo di ciò, dopodiché, e così, entrambi, gli altri, i primi, il primo no, il primo è, il resto, in caso \
     affermativo, in caso contrario, in realtà, in seguito, la prima è, le altre, lo si, ne sono, per esempio, poi, \
     prima di ciò, quest'ultima, quest'ultimo, se così, se no, se non, se sì, tutti gli altri, eccezione, eccezioni, \
     comprende, costa, dura, è valida, è valido, non comprende, non copre, non è compresa, non è compreso, non è inclusa, \
     non è incluso, non si applica, si rinnova",
    // Portuguese
    "além disso, ambos, assim, caso contrário, contudo, ela, elas, ele, eles, essa, essas, esse, esses, exceto, isso, isto, \
     mas, nesse caso, neste caso, no entanto, o mesmo, por isso, portanto, porém, também, tampouco, antes disso, aquela, \
     aquelas, aquele, aqueles, as outras, depois, desde então, em caso afirmativo, em caso contrário, em seguida, em tal caso, \
     este último, estes, nela, nele, neles, na realidade, o primeiro não, o primeiro é, o resto, o último é, os demais, os outros, outras, \
     outros, por exemplo, se assim, se não, se sim, todos os outros, exceção, exceções, custa, \
     inclui, não cobre, não inclui, não se aplica",
    // Dutch
    "anders, behalve, bovendien, daarbij, daarna, daarom, daarvoor, dan, dat, deze, dit, dus, echter, hetzelfde, hierbij, \
     hiervoor, hij, in dat geval, maar, ook, tenzij, toch, ze, zij, zo, alle anderen, anderen, beide, bijvoorbeeld, bijv, \
     daarentegen, daarin, de anderen, de eerste is, de eerste niet, de laatste is, de overige, de rest, hierin, het geldt, het is, het kost, in werkelijkheid, nadien, sindsdien, tot dan, vervolgens, uitzondering, uitzonderingen, wel inbegrepen, zo ja, zo niet",
]);

/// Beginnings that [`POINTERS`] contains but that stand alone.
static STANDS_ALONE: Phrases = Phrases::new(&[
    "so that, that is why, its own, il y a, il faut, il existe, il s'agit, il est conseillé, il est \
     important, il est impossible, il est interdit, il est nécessaire, il est obligatoire, il est permis, il est possible, il est \
     recommandé, il est strictement, es ist möglich, es ist nicht erlaubt, es ist nicht gestattet, es ist nicht möglich, es ist \
     verboten, het is mogelijk, het is niet mogelijk, het is niet toegestaan, het is verboden, or else, another way, su pedido, dan wel, \
     then again, both of, either of, it is often said, it is said, depuis l, depuis la, depuis le, depuis les, después de, \
     después del, depois da, depois das, depois de, depois do, depois dos",
]);

/// Words that make an exception to the sentence before when they begin one.
static EXCEPTIONS: Phrases = Phrases::new(&[
    "but, except, however, nevertheless, this does not, this doesn't, it does not, it doesn't, they do not, they don't, that \
     is not, this is not, it is not, unless, neither does, neither do, not so, no longer, only if, aber, allerdings, \
     ausgenommen, außer, das gilt nicht, dies gilt nicht, jedoch, doch, nicht aber, cependant, cela ne, ceci ne, mais, sauf, \
     toutefois, en revanche, excepto, esto no, no obstante, pero, salvo, sin embargo, ciò non, eccetto, ma, però, questo non, \
     tranne, tuttavia, contudo, exceto, isso não, isto não, mas, no entanto, porém, behalve, dit geldt niet, echter, maar, \
     tenzij",
    "only, not, the above does not, the above do not, exception, exceptions, excluded, with the exception, apart from, excluding, provided, nur, nicht, ausnahme, ausnahmen, mit ausnahme, \
     gilt nicht, uniquement, seulement, à l exception, à condition, solo, sólo, solamente, con la excepción, excepción, excepciones, no cubre, no es válida, \
     no es válido, no incluye, no se aplica, con l eccezione, eccezione, eccezioni, non comprende, non copre, non è compresa, non è \
     compreso, non è inclusa, non è incluso, non si applica, exceção, exceções, não cobre, não inclui, não se aplica, apenas, \
     somente, com exceção, alleen, met uitzondering, uitzondering, uitzonderingen, niet",
]);

/// Words of a heading that negate or limit what is below it.
static LIMITS: Phrases = Phrases::new(&[
    // English
    "archived, beta, beyond, cannot, deprecated, discontinued, draft, except, excepted, exception, exceptions, excluded, \
     excluding, exclusion, exclusions, experimental, expired, forbidden, former, formerly, invalid, legacy, limitations, \
     limits, never, no, non, none, not, obsolete, old, older, only, optional, outdated, past, planned, previous, prohibited, \
     removed, restrictions, retired, unavailable, uncovered, unless, unsupported, until, upcoming, void, without, wrong, before, \
     after, don, doesn, isn, aren, can't, won",
    // German
    "alt, alte, alter, altes, ausgenommen, ausgeschlossen, ausnahme, ausnahmen, ausschluss, ausschlüsse, außer, bis, ehemals, \
     entfernt, früher, frühere, kein, keine, keinen, keiner, nicht, nie, niemals, nur, ohne, unzulässig, veraltet, verboten, \
     vor, nach, ungültig, entfällt, erlischt",
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
]);

/// Words that affirm what [`LIMITS`] negate: the item "Theft" below "Covered".
static AFFIRMS: Phrases = Phrases::new(&[
    "allowed, available, covered, included, insured, permitted, required, supported, mandatory, served, beschikbaar, compris, \
     coperto, couvert, cubierto, eingeschlossen, enthalten, erlaubt, gestattet, inbegrepen, inbegriffen, incluido, inclus, \
     incluso, incluído, inklusive, kostenlos, gratuit, versichert, verfügbar, zugelassen, zulässig, assuré, autorisé, permis, \
     obligatoire, disponible, admitido, asegurado, permitido, obligatorio, ammesso, assicurato, permesso, obbligatorio, \
     disponibile, coberto, disponível, verzekerd, toegestaan, verplicht, payant, possible, impossible, möglich, \
     posible, imposible, possibile, impossibile, possível, impossível, mogelijk, forbidden, prohibited, unavailable, verboten, \
     interdit, prohibido, vietato, proibido",
]);

/// Words for those that are exempt.
static EXEMPT: Phrases = Phrases::new(&[
    "exempt, excluded, excepted, ausgenommen, ausgeschlossen, excepté, exclu, exclus, exempté, exceptuado, excluido, exento, \
     escluso, esente, excluído, isento, uitgesloten, uitgezonderd, vrijgesteld",
]);

/// Words for those that remain.
static OTHERS: Phrases = Phrases::new(&[
    "other, others, remaining, andere, anderem, anderen, anderer, anderes, restlichen, sonstigen, übrigen, autre, autres, \
     demás, otra, otras, otro, otros, altra, altre, altri, altro, outra, outras, outro, outros, overige",
]);

/// Words before one of [`OTHERS`] that take away its reference: "Dogs and other animals".
static JOINS: Phrases =
    Phrases::new(&["and, or, each, among, und, oder, unter, et, ou, entre, y, o, e, en, of"]);

/// Last words of a sentence whose verb or case is in the one before: "So does the Pro plan", "Am 31. Dezember auch."
static ELLIPSES: Phrases = Phrases::new(&[
    "too, likewise, are, can, could, did, do, does, has, have, is, must, should, was, were, will, would, auch, ebenfalls, ebenso, \
     aussi, également, también, tampoco, anche, neppure, também, ook, evenmin",
]);

/// Last words of a line that is only the start of a sentence.
static LEADS_ON: Phrases = Phrases::new(&[
    "if, unless, except, excluding, for, until, without, when, where, wenn, falls, sofern, soweit, außer, ohne, für, durch, si, sauf, \
     sans, pour, lorsque, excepto, salvo, para, cuando, se, tranne, senza, per, quando, exceto, sem, als, tenzij, behalve, \
     zonder, voor, indien",
]);

/// Words that begin a sentence before its subject.
static OPENERS: Phrases = Phrases::new(&[
    "abroad, after, at, before, by, during, elsewhere, for, from, here, in, now, on, outside, since, there, today, with, within, without, \
     ab, am, an, auf, aus, außerhalb, bei, bis, dort, für, heute, hier, im, innerhalb, ins, inzwischen, jetzt, mit, nach, nun, ohne, \
     seit, vor, zum, zur, après, au, aujourd, aux, avant, avec, chez, depuis, dès, en, hors, ici, là, pour, sans, à, hier, nu, na, \
     sinds, vanaf, voor, zonder, hoje, no, na, nos, nas, fora, desde, para, sem",
]);

/// Pronouns that stand for something that is named before.
static PRONOUNS: Phrases = Phrases::new(&[
    "it, they, them, he, she, er, sie, ihn, ils, elle, elles, hij, zij, ze, ele, ela, eles, elas",
]);

/// Beginnings of a sentence that disappoints what the one before it makes expect.
static REGRETS: Phrases = Phrases::new(&[
    "unfortunately, leider, malheureusement, desgraciadamente, lamentablemente, purtroppo, infelizmente, helaas",
]);

/// Beginnings of an item that goes on from the one before it.
static SEQUELS: Phrases = Phrases::new(&[
    "then, after that, afterwards, later, otherwise, danach, anschließend, später, sonst, andernfalls, ensuite, puis, après, au delà, \
     sinon, después, luego, de lo contrario, poi, dopo, in seguito, altrimenti, depois, caso contrário, daarna, anders",
]);

/// Beginnings of a sentence about two things.
static PAIRS: Phrases = Phrases::new(&[
    "both, in both cases, neither, beide, in beiden fällen, keine von beiden, keiner von beiden, keines von beiden, tous deux, toutes \
     deux, aucun des deux, ambos, ninguno, entrambi, nessuno dei due, geen van beide, nenhum dos dois",
]);

/// Verbs behind a word that begins a sentence without a subject before it: "Not covered are …".
static COPULAS: Phrases =
    Phrases::new(&["are, is, sind, ist, wird, werden, sont, est, son, es, sono, è, são, é, zijn"]);

/// Words for what follows.
static FOLLOWING: Phrases = Phrases::new(&[
    "following, folgende, folgenden, folgender, folgendes, suivant, suivante, suivantes, suivants, siguiente, siguientes, \
     seguente, seguenti, seguinte, seguintes, volgende, onderstaande",
]);

/// Beginnings of a sentence about all figures around it.
static FIGURES: Phrases = Phrases::new(&[
    "all prices, all fees, all amounts, all figures, all rates, prices are, prices in, prices include, alle preise, alle angaben, alle \
     beträge, alle gebühren, preise in, preise exkl, preise inkl, preise netto, preise pro, preise zzgl, tous les prix, tous les \
     montants, tous les tarifs, prix en, prix hors, prix ht, prix ttc, todos los precios, todos los importes, precios con, \
     precios en, precios sin, tutti i prezzi, tutti gli importi, prezzi in, todos os preços, preços em, \
     alle prijzen, alle bedragen, prijzen in, prijzen zijn",
]);

/// Words that begin a heading which says for whom, where or when what is below it holds.
static SCOPES: Phrases = Phrases::new(&[
    "for, if, in, on, when, with, during, für, wenn, falls, bei, im, mit, während, pour, si, dans, en, avec, chez, lors, \
     para, con, cuando, per, se, nel, quando, com, em, voor, als, bij, met, tijdens",
]);

/// Words anywhere in a heading which say for whom or since when what is below it holds.
static SPANS: Phrases = Phrases::new(&[
    "for, from, new, für, gilt, ab, neu, neue, pour, dès, nouveau, nouvelle, nouveaux, nouvelles, para, desde, nuevo, nueva, \
     nuevos, nuevas, dal, nuovo, nuova, nuovi, nuove, novo, nova, novos, novas, voor, vanaf, nieuw, nieuwe",
]);

/// How a text names itself.
static THIS_DOCUMENT: Phrases = Phrases::new(&[
    "this page, this document, this article, this guide, this policy, this version, this section, this documentation, this \
     manual, these terms, these instructions, diese seite, dieses dokument, dieser artikel, diese anleitung, diese \
     richtlinie, diese version, diese bedingungen, cette page, ce document, cet article, ce guide, cette version, ces \
     conditions, esta página, este documento, este artículo, esta guía, esta versión, estas condiciones, questa pagina, \
     questo documento, questo articolo, questa guida, questa versione, este artigo, este guia, esta versão, deze pagina, dit \
     document, dit artikel, deze handleiding, deze versie",
]);

/// Words that begin what a text tells.
static INTERROGATIVES: Phrases = Phrases::new(&[
    "what, how, why, wie, warum, comment, pourquoi, qué, cómo, cosa, perché, como, quais, wat, hoe, waarom",
]);

/// Beginnings of a warning.
static WARNINGS: Phrases = Phrases::new(&[
    "never, do not, don't, warning, caution, danger, important, be careful, nie, niemals, nicht, achtung, warnung, vorsicht, \
     wichtig, ne, jamais, attention, avertissement, nunca, no, advertencia, atención, cuidado, mai, non, attenzione, avviso, \
     não, atenção, aviso, nooit, let op, waarschuwing, pas op",
]);

/// Words that point to what follows.
static FORWARD: Phrases = Phrases::new(&["below, follows, these, folgend, diese, voici"]);

/// Words that affirm or negate alone.
static YES_OR_NO: Phrases =
    Phrases::new(&["yes, no, ja, nein, oui, non, sí, si, sì, sim, não, nee, x, n/a, true, false"]);

/// Verbs and nouns that say at the start of a sentence that it is the opinion of others.
static HEARSAY: Phrases = Phrases::new(&[
    "allegedly, assume, believe, believed, claim that, claimed, claims that, critics, imagine, myth, \
     rumour, rumours, said, say, suppose, supposedly, think, thought, angeblich, behaupten, behauptet, \
     denken, gerücht, gerüchte, glauben, irrtum, mythos, sagen, vermeintlich, croient, croit, disent, dit, \
     idée, mythe, pensent, prétend, prétendent, prétendument, rumeur, creen, cree, dice, dicen, mito, \
     piensan, rumor, supuestamente, credono, crede, dicono, pensano, presunto, acham, acreditam, dizem, \
     supostamente, beweert, beweren, denken, geloven, mythe, zegt, zeggen, zogenaamd",
]);

/// Who speaks and who is spoken to.
static SPEAKERS: Phrases =
    Phrases::new(&["i, we, you, let, ich, wir, je, nous, vous, noi, voi, nós, wij, u"]);

/// "Please note: …"
const MAX_LABEL_WORDS: usize = 2;
/// A longer sentence without a verb is one with a verb.
const MAX_ELLIPSIS_WORDS: usize = 8;
/// No phrase of [`FIGURES`] is longer.
const MAX_OPENING_BYTES: usize = 40;
/// The first words of a sentence, which say what it is about.
const OPENING_WORDS: usize = 4;

/// A sentence reports an opinion only within its first words.
const MAX_HEARSAY_WORDS: usize = 6;

/// Beginnings of a sentence about what was.
static PAST: Phrases = Phrases::new(&[
    "we used to, in the past, formerly, previously, früher, bisher, autrefois, auparavant, dans le passé, \
     antes, antiguamente, en el pasado, in passato, una volta, antigamente, no passado, vroeger, voorheen, \
     in het verleden",
]);

/// Words that negate a short sentence.
static NEGATIONS: Phrases = Phrases::new(&[
    "not, never, no, don, doesn, isn, aren, can't, cannot, won, nicht, nie, kein, keine, pas, jamais, non, mai, nunca, não, \
     niet, nooit, geen",
]);

/// A short sentence that points back and negates refutes the sentence before it.
const MAX_REFUTATION_WORDS: usize = 4;

/// Longest ending behind an apostrophe: "they're".
const MAX_ENDING_BYTES: usize = 2;

/// Whether a sentence cannot be understood without the one before it.
pub(super) fn refers_back(sentence: &str) -> bool {
    points_back(sentence) || points_back(without_label(sentence))
}

fn points_back(sentence: &str) -> bool {
    let words = words(sentence);
    // "Sie endet": the reader, "Sie", has another form of the verb.
    let is_she = || match words.as_slice() {
        [sie, verb, ..] if sie == "sie" => {
            verb.ends_with('t') && verb != "nicht"
                || matches!(verb.as_str(), "wird" | "kann" | "darf" | "muss" | "soll")
        }
        _ => false,
    };
    is_she()
        || !begins_with(&words, &STANDS_ALONE)
            && !begins_with(&words, &THIS_DOCUMENT)
            && begins_with(&words, &POINTERS)
}

/// Whether a sentence takes its subject, verb or case from what is above it, if something is: "Not on Sundays.", "Others pay.", "The Pro
/// plan does."
pub(super) fn is_elliptic(sentence: &str) -> bool {
    if is_fragment(sentence) || ends_with_colon(sentence) || is_question(sentence) {
        return false;
    }
    let words = words(sentence);
    let is = |at: usize, list: &Phrases| words.get(at).is_some_and(|word| is_in(word, list));
    let rests = words.iter().take(OPENING_WORDS).position(|word| is_in(word, &OTHERS));
    let has_others = || rests.is_some_and(|at| (1..at).all(|before| !is(before, &JOINS)));
    let is_short = words.len() <= MAX_ELLIPSIS_WORDS;
    let is_cut_short = is_cut_short(&words);
    let first = usize::from(words.first().is_some_and(|word| is_in(word, &NEGATIONS)));
    let is_predicate = words.get(first).is_some_and(|word| is_inflected(word, &AFFIRMS));
    let is_rest = is_predicate && !sentence.contains(": ") || is_short && begins_with(&words, &EXCEPTIONS);
    let has_verb = || (first..first + 3).any(|at| is(at, &COPULAS));
    let last = words.len().wrapping_sub(1);
    let is_negated = words.last().is_some_and(|word| word == "not") && is(last.wrapping_sub(1), &ELLIPSES);
    has_others()
        || has_pronoun(sentence)
        || begins_with(&words, &REGRETS)
        || is_rest && !has_verb()
        || is_short && (is(last, &ELLIPSES) || is_exempt(&words))
        || is_negated
        || is_cut_short
}

/// "Elsewhere they cost 5 €.", "Seit Mai kostet er 9 €."
fn has_pronoun(sentence: &str) -> bool {
    let mut words = sentence.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_opener = words.next().is_some_and(|first| is_in(&first.to_lowercase(), &OPENERS));
    // German "Sie" is the reader.
    is_opener && words.take(OPENING_WORDS).any(|word| is_in(word, &PRONOUNS))
}

/// Whether an item goes on from the one before it: "danach: 50 %".
pub(super) fn is_sequel(item: &str) -> bool {
    begins_with(&words(item), &SEQUELS)
}

/// Whether a sentence is about the two sentences before it.
pub(super) fn is_about_two(sentence: &str) -> bool {
    begins_with(&words(sentence), &PAIRS)
}

/// A sentence without a name before it: "Note: …"
fn without_label(sentence: &str) -> &str {
    let label = sentence.split_once(": ").filter(|(label, _)| word_count(label) <= MAX_LABEL_WORDS);
    label.map_or(sentence, |(_, rest)| rest)
}

/// "Room 5 does not."
fn is_cut_short(words: &[String]) -> bool {
    let last = words.last().filter(|_| words.len() <= MAX_REFUTATION_WORDS + 1);
    last.is_some_and(|word| matches!(word.as_str(), "not" | "nicht" | "doesn't" | "don" | "isn" | "can't"))
}

/// Whether a line only names what is covered or not: "Not covered".
pub(super) fn is_cover(line: &str) -> bool {
    let words = words(line);
    let mut names = words.iter().skip_while(|word| is_in(word, &NEGATIONS));
    let is_name = |word: &String| is_inflected(word, &AFFIRMS) || is_inflected(word, &EXEMPT);
    words.len() <= 3 && is_fragment(line) && names.next().is_some_and(is_name)
}

/// Whether a short sentence says who or what is exempt.
fn is_exempt(words: &[String]) -> bool {
    words.len() <= MAX_ELLIPSIS_WORDS && words.iter().any(|word| is_inflected(word, &EXEMPT))
}

/// Whether a sentence promises text that follows it: "The following cannot be returned."
pub(super) fn promises(sentence: &str) -> bool {
    let is_told = sentence.contains(": ") || is_question(sentence);
    !is_told && words(sentence).iter().any(|word| is_in(word, &FOLLOWING))
}

/// Whether a sentence is about all figures around it: "All prices include VAT."
pub(super) fn is_about_figures(sentence: &str) -> bool {
    let opening = sentence.get(..sentence.floor_char_boundary(MAX_OPENING_BYTES)).unwrap_or_default();
    begins_with(&words(opening), &FIGURES)
}

/// Whether a line ends in a word that leads on: "… which is not refunded if".
pub(super) fn leads_on(line: &str) -> bool {
    is_fragment(line) && words(line).last().is_some_and(|word| is_in(word, &LEADS_ON))
}

/// The number that begins a line of a text with numbered parts, without what closes it: "5.1", "(a", "§ 3".
pub(super) fn part_number(line: &str) -> Option<&str> {
    let number = line.split(char::is_whitespace).next()?.trim_end_matches(['.', ')', ':']);
    let bare = number.trim_start_matches('(');
    let is_letter = bare.len() == 1 && line.get(number.len()..)?.starts_with([')', '.']);
    let is_number = !bare.is_empty() && bare.chars().all(|c| c.is_ascii_digit() || c == '.');
    let is_closed = number.contains('.') || line.get(number.len()..)?.starts_with([')', '.']);
    (is_letter && bare.starts_with(|c: char| c.is_ascii_lowercase()) || is_number && is_closed)
        .then_some(number)
}

/// Whether a sentence refutes the one before it or makes an exception to it.
pub(super) fn is_exception(sentence: &str) -> bool {
    makes_exception(sentence) || makes_exception(without_label(sentence))
}

fn makes_exception(sentence: &str) -> bool {
    let words = words(sentence);
    let is_refutation = || {
        words.len() <= MAX_REFUTATION_WORDS
            && points_back(sentence)
            && words.iter().any(|word| is_in(word, &NEGATIONS))
    };
    begins_with(&words, &EXCEPTIONS)
        || begins_with(&words, &REGRETS)
        || is_cut_short(&words)
        || is_exempt(&words)
        || is_refutation()
}

/// Whether a heading negates or limits what is below it: by a word, a year, a version, or a place or case at its start.
pub(super) fn limits(heading: &str) -> bool {
    let words = words(heading);
    let is_year = |word: &String| word.len() == 4 && matches!(word.get(..2), Some("19" | "20"));
    let is_version =
        |word: &String| matches!(word.as_str(), "version" | "versión" | "versione" | "versão" | "versie");
    let affirms = |word: &String| is_inflected(word, &AFFIRMS) || is_in(word, &SPANS);
    // The name of a parameter: "max_retries".
    let is_code = !heading.contains(' ') && heading.starts_with(char::is_lowercase);
    // The number of a chapter does not limit.
    let mut names = words.iter().skip_while(|word| word.chars().all(|c| c.is_ascii_digit()));
    limits_by_word(heading)
        || is_code
        || begins_scope(heading)
        || names.any(|word| is_year(word) || is_version(word) || affirms(word))
}

/// Whether a text begins with a place or case: "For companies".
fn begins_scope(text: &str) -> bool {
    let words = words(text);
    let mut names = words.iter().skip_while(|word| word.chars().all(|c| c.is_ascii_digit()));
    names.next().is_some_and(|word| is_in(word, &SCOPES)) && names.next().is_some()
}

/// Whether a short line says for what the text below it holds: "Only for members.", "For companies". A date does not.
pub(super) fn is_status(line: &str) -> bool {
    limits_by_word(line) || is_fragment(line) && begins_scope(line)
}

/// Whether a heading has a word that negates or limits.
pub(super) fn limits_by_word(heading: &str) -> bool {
    words(heading).iter().any(|word| is_inflected(word, &LIMITS))
}

/// Whether the name of a column says what holds or does not hold for the cells below it: "Allowed" next to "Forbidden".
pub(super) fn decides(column: &str) -> bool {
    limits_by_word(column) || words(column).iter().any(|word| is_inflected(word, &AFFIRMS))
}

/// Whether a sentence says that something follows.
pub(super) fn looks_ahead(sentence: &str) -> bool {
    words(sentence).iter().any(|word| is_in(word, &FORWARD) || is_in(word, &FOLLOWING))
}

/// Whether a text is no sentence: it does not end like one.
pub(super) fn is_fragment(text: &str) -> bool {
    !ends_sentence(text)
}

/// Whether a sentence at the top of a document says what the document does not hold for; not what it tells: "This page says what is not
/// covered."
pub(super) fn is_notice(sentence: &str) -> bool {
    let words = words(without_label(sentence));
    let mut told = words.iter().take_while(|word| !is_in(word, &INTERROGATIVES));
    begins_with(&words, &THIS_DOCUMENT)
        && told.any(|word| is_in(word, &LIMITS) || word == "longer" || word == "version")
}

/// Whether a sentence warns of what is above it.
pub(super) fn is_warning(sentence: &str) -> bool {
    begins_with(&words(sentence), &WARNINGS)
}

/// Whether a line above a list, table or code is only the start of a sentence: "We ship to all countries except". The text of an item
/// says something without the items below it, unless it ends in a word that leads on.
pub(super) fn is_open(text: &str, is_item: bool) -> bool {
    let leads_on = |word: &String| is_in(word, &LIMITS) || is_in(word, &SCOPES);
    is_fragment(text) && !is_value(text) && (!is_item || words(text).last().is_some_and(leads_on))
}

/// Whether a line is a figure or a name with a figure: "9 € per month", "From 5 €", "Weight: 7 kg".
fn is_value(line: &str) -> bool {
    // "(1)" and "2." are the numbers of a part.
    let is_number = |c: char| c.is_numeric() || matches!(c, '€' | '$' | '£');
    let is_figure = |word: &str| word.contains(is_number) && !word.ends_with([')', '.']);
    let value = line.rsplit(": ").next().unwrap_or(line);
    [value.split(' ').next(), value.split(' ').next_back()].into_iter().flatten().any(is_figure)
}

/// Whether a sentence reports what others say or what was: the next one may say otherwise.
pub(super) fn is_hearsay(sentence: &str) -> bool {
    let words = words(sentence);
    // "When we say", "If you think": it is no opinion of others.
    let before = |at: usize| at.checked_sub(1).and_then(|before| words.get(before));
    let is_own = |at: usize| before(at).is_some_and(|word| is_in(word, &SPEAKERS));
    let starts = (0..words.len().min(MAX_HEARSAY_WORDS)).filter(|at| !is_own(*at));
    let mut rests = starts.filter_map(|at| words.get(at..));
    rests.any(|rest| begins_with(rest, &HEARSAY)) || begins_with(&words, &PAST)
}

/// Whether a text has a word that limits and does not only negate.
pub(super) fn has_status(text: &str) -> bool {
    words(text).iter().any(|word| is_in(word, &LIMITS) && !is_in(word, &NEGATIONS) && word != "none")
}

/// Whether a cell only affirms or negates.
pub(super) fn is_yes_or_no(cell: &str) -> bool {
    words(cell).iter().all(|word| is_in(word, &YES_OR_NO))
}

/// The first word of a text, without the ending of a possessive.
pub(super) fn first_word(text: &str) -> &str {
    let is_end = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '-'));
    text.split(is_end).next().unwrap_or_default().trim_end_matches(['.', '-'])
}

/// Whether a word in small letters is a name by its other characters: "iPhone", "crates.io", "retention_days"; not "e.g".
pub(super) fn is_name(word: &str) -> bool {
    let mut parts = word.split('.');
    let is_long = |part: &str| part.chars().nth(1).is_some();
    let has_other = |part: &str| part.contains(|c: char| c == '_' || c.is_uppercase() || c.is_numeric());
    parts.clone().all(is_long) && (parts.clone().nth(1).is_some() || parts.any(has_other))
}

/// Whether a cell only repeats the one above it.
pub(super) fn repeats(cell: &str) -> bool {
    const MARKS: [&str; 10] =
        ["\"", "''", "″", "〃", "ditto", "dito", "idem", "see above", "siehe oben", "same as above"];
    let cell = cell.trim();
    cell.len() <= MAX_OPENING_BYTES && MARKS.contains(&cell.to_lowercase().as_str())
}

pub(super) fn word_count(text: &str) -> usize {
    words(text).len()
}

/// Whether a sentence asks.
pub(super) fn is_question(sentence: &str) -> bool {
    without_closers(sentence).ends_with(['?', '？', '؟', '⁇', ';'])
        && !without_closers(sentence).ends_with(';')
}

/// Whether a sentence announces what follows.
pub(super) fn ends_with_colon(sentence: &str) -> bool {
    let is_smiley = sentence.trim_end().ends_with(":)") && !sentence.contains('(');
    !is_smiley && without_closers(sentence).ends_with([':', '：'])
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
    let is_closer = |c: char| "\"”“’‘'»)] *†‡⁰¹²³⁴⁵⁶⁷⁸⁹".contains(c);
    sentence.trim_end().trim_end_matches(is_closer)
}

/// The words of a text in lower case. An apostrophe separates, and short endings are dropped: "l'exception" is "l" and "exception", "don't"
/// is "don". A few words keep theirs.
fn words(text: &str) -> Vec<String> {
    let text = text.to_lowercase().replace('’', "'");
    text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '_')))
        .map(|word| word.trim_matches(['\'', '_']))
        .filter(|word| !word.is_empty())
        .flat_map(|word| match word.split_once('\'') {
            Some((before, after)) if !matches!(before, "c" | "s" | "can" | "doesn") => {
                [Some(before), Some(after).filter(|after| after.len() > MAX_ENDING_BYTES)]
            }
            _ => [Some(word), None],
        })
        .flatten()
        .map(str::to_owned)
        .collect()
}

/// Words and phrases by their first word.
struct Phrases {
    /// Lists with commas.
    lines: &'static [&'static str],
    by_first_word: OnceLock<HashMap<String, Vec<Vec<String>>>>,
}

impl Phrases {
    const fn new(lines: &'static [&'static str]) -> Self {
        Self { lines, by_first_word: OnceLock::new() }
    }

    fn that_begin_with(&self, word: &str) -> &[Vec<String>] {
        let index = || {
            let mut index: HashMap<String, Vec<Vec<String>>> = HashMap::new();
            for phrase in self.lines.iter().flat_map(|line| line.split(',')).map(words) {
                index.entry(phrase.first().cloned().unwrap_or_default()).or_default().push(phrase);
            }
            index
        };
        self.by_first_word.get_or_init(index).get(word).map(Vec::as_slice).unwrap_or_default()
    }
}

fn is_in(word: &str, list: &Phrases) -> bool {
    list.that_begin_with(word).iter().any(|phrase| phrase.len() == 1)
}

/// Whether a word of a list is meant, in whatever gender, number or case.
fn is_inflected(word: &str, list: &Phrases) -> bool {
    const ENDINGS: [&str; 13] = ["en", "em", "er", "es", "e", "os", "as", "a", "i", "s", "ées", "ée", "és"];
    let stems =
        || ENDINGS.iter().filter_map(|ending| word.strip_suffix(ending)).filter(|stem| stem.len() > 4);
    is_in(word, list)
        || stems().any(|stem| ["", "o", "e"].iter().any(|end| is_in(&format!("{stem}{end}"), list)))
}

/// Whether words begin with one of the phrases.
fn begins_with(words: &[String], list: &Phrases) -> bool {
    let phrases = words.first().map(|first| list.that_begin_with(first)).unwrap_or_default();
    phrases.iter().any(|phrase| words.starts_with(phrase))
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
            "They don't.",
            "À l'exception des livres.",
            "Con l’eccezione dei libri.",
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
    fn phrases_are_words_as_texts_have_them() {
        assert!(is_warning("Don't run this.") && is_warning("Let op!"));
        assert!(refers_back("Quest'ultimo è gratuito.") && limits("L'exception"));
        assert!(is_hearsay("Vermeintlich ist es frei.") && is_hearsay("En el pasado era gratis."));
        for list in [&POINTERS, &EXCEPTIONS, &LIMITS, &WARNINGS, &HEARSAY, &PAST] {
            assert!(list.that_begin_with("").is_empty());
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
