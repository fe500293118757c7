//! Splits running text into sentences.

use std::ops::Range;

use super::enclosed::{char_at, enclosed};
use super::full_stop;

/// The sentences of `content[range]`, each without surrounding white space. In doubt a sentence goes on.
pub fn sentences(content: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let Some(text) = content.get(range.clone()) else { return Vec::new() };
    #[cfg(test)]
    crate::work::add(text.len());
    let mut enclosed = enclosed(text).into_iter().peekable();
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut position = 0;
    while let Some(c) = char_at(text, position) {
        if !is_terminator(c) {
            position += c.len_utf8();
            continue;
        }
        let end = after_closers(text, position);
        while enclosed.next_if(|range| range.end <= position).is_some() {}
        let is_enclosed = enclosed.peek().is_some_and(|range| range.start < position && end < range.end);
        if !is_enclosed && ends_sentence(text, start, position, end) {
            push_trimmed(text, start..end, &mut sentences);
            start = end;
        }
        position = end;
    }
    push_trimmed(text, start..text.len(), &mut sentences);
    sentences.into_iter().map(|found| range.start + found.start..range.start + found.end).collect()
}

fn push_trimmed(text: &str, range: Range<usize>, into: &mut Vec<Range<usize>>) {
    let Some(slice) = text.get(range.clone()) else { return };
    let start = range.start + (slice.len() - slice.trim_start().len());
    let length = slice.trim().len();
    if length > 0 {
        into.push(start..start + length);
    }
}

/// Marks that end a sentence without a space after them, because they have no other use.
fn is_unspaced_terminator(c: char) -> bool {
    // Full width, Arabic, Devanagari, Myanmar, Ethiopic, Khmer.
    matches!(c, '。' | '！' | '？' | '｡' | '؟' | '।' | '॥' | '။' | '።' | '។')
}

/// The full stops of Latin and of Urdu also belong to abbreviations.
fn is_full_stop(c: char) -> bool {
    matches!(c, '.' | '۔')
}

fn is_terminator(c: char) -> bool {
    // The last one is Armenian.
    is_full_stop(c) || is_unspaced_terminator(c) || matches!(c, '!' | '?' | '…' | '։')
}

/// The end of a run of terminators and the closing quotes, brackets and emphasis marks after it. French has a space before its
/// quotation marks.
fn after_closers(text: &str, position: usize) -> usize {
    let closes = |c: char| {
        is_terminator(c)
            || matches!(
                c,
                '"' | '\'' | '”' | '’' | '“' | '‘' | '»' | '«' | '›' | '‹' | ')' | ']' | '}' | '*' | '_'
            )
            || matches!(c, '」' | '』' | '）' | '］' | '｝' | '】' | '〕' | '》' | '〉')
            // The number of a footnote.
            || matches!(c, '⁰' | '¹' | '²' | '³' | '⁴'..='⁹')
    };
    let rest = text.get(position..).unwrap_or_default();
    let after = rest.trim_start_matches(closes);
    let after = match after.trim_start().strip_prefix('»') {
        Some(further) if !further.starts_with(char::is_alphanumeric) => further,
        _ => after,
    };
    text.len() - after.len()
}

/// Whether the terminator at `position`, whose closers end at `end`, ends the sentence that begins at `start`.
fn ends_sentence(text: &str, start: usize, position: usize, end: usize) -> bool {
    let marks = text.get(position..end).unwrap_or_default();
    let after = text.get(end..).unwrap_or_default();
    let Some(next) = after.chars().next() else { return true };
    if marks.contains(is_unspaced_terminator) {
        // 「はい。」と答えた: a particle continues the sentence after a quotation.
        return marks.ends_with(is_terminator) || !is_hiragana(next);
    }
    if !next.is_whitespace() {
        return false;
    }
    if after.trim_start().starts_with(['¿', '¡']) {
        return true;
    }
    let next_word = after.trim_start_matches(|c: char| c.is_whitespace() || full_stop::is_opening(c));
    match next_word.chars().next() {
        None => return true,
        Some(first) if first.is_lowercase() => return false,
        Some(_) => {}
    }
    let is_single_full_stop = marks.starts_with(is_full_stop) && marks.matches(is_full_stop).count() == 1;
    !is_single_full_stop || full_stop::ends_sentence(text.get(start..position).unwrap_or_default(), next_word)
}

fn is_hiragana(c: char) -> bool {
    ('\u{3041}'..='\u{309f}').contains(&c)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::work;

    fn split(text: &str) -> Vec<&str> {
        sentences(text, 0..text.len()).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn plain_sentences_are_split() {
        assert_eq!(split("One. Two! Three? Four… Five"), ["One.", "Two!", "Three?", "Four…", "Five"]);
        assert_eq!(split("Wait... Then go.  \n Now."), ["Wait...", "Then go.", "Now."]);
    }

    fn assert_whole(texts: &[&str]) {
        for text in texts {
            assert_eq!(split(text), [*text]);
        }
    }

    /// "|" is where a sentence ends.
    fn assert_split(texts: &[&str]) {
        for text in texts {
            assert_eq!(split(&text.replace('|', " ")), text.split('|').collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_full_stop_of_an_abbreviation_does_not_end_a_sentence() {
        assert_whole(&[
            "Mr. Smith met Dr. Jones.",
            "Use a carrier, e.g. UPS, i.e. a big one.",
            "See No. 5 and Fig. 3 on p. 12.",
            "The U.S. Government pays.",
            "Written by J. R. Smith, J. De Niro and W.E.B. Du Bois in London.",
            "Apples vs. Oranges is a book.",
            "It opens at 9 a.m. every day and at 10 a.m. Sundays.",
            "Suite: 12 Main St. Ste. 5 or Apt. B.",
            "In v. 2 it changed.",
            "Die Lieferung dauert ca. Anfang Mai mind. zwei Wochen.",
            "Bücher bzw. Hefte inkl. Versand zzgl. Steuer gem. Abs. Eins usw. Kunden zahlen.",
            "Ein Widerruf ist nach § 312 Abs. 3 nicht möglich.",
            "Das gilt z. B. Die Zeit, z.B. Hefte, d. h. Bücher, u. a. Zeitungen und i. d. R. Filme.",
            "Mo. Di. Do. Vormittag, Sa. So. Feiertag.",
            "Siehe Nr. IV, Bestell-Nr. A5 und Hauptstr. Ecke Bahnhofstr. West.",
            "Evtl. Kosten, monatl. Rate, Gebr. Meier, Abschn. Eins, febr. Tage, einschl. Versand, tägl. Fahrten.",
            "Prof. Dr. Ing. Meier und Hr. Müller.",
            "M. Le Pen et Mme. Les, p. ex. Les Halles, env. Cinq, art. L. 121-1, chap. IV, av. Victor.",
            "La Sra. El Hadi, el Sr. García, p. ej. El País, pág. IV, núm. Dos, EE. UU. México, Ud. Mismo, Dña. Ana, Hnos. López.",
            "Le 14 juill. 2024, op. cit. Martin.",
            "قال د. محمد إن أ. د. أحمد ولد عام 5 هـ. أحمد هنا.",
            "ڈاکٹر م۔ احمد یہاں ہیں۔",
            "The B.Sc. Honours and Ph.D. Students.",
        ]);
    }

    #[test]
    fn a_full_stop_before_or_after_a_number_does_not_end_a_sentence() {
        assert_whole(&[
            "Pay $3.50 for version 3.5.1 today.",
            "The maximum height is 6 ft. 5 in. Drivers of vans park outside.",
            "It weighs 1 lb. 8 oz. Larger parcels cost 5 min. Work.",
            "The fee is Rs. 500 or Rs. Five.",
            "Open Mon. 9 a.m. to Fri. 5 p.m. Sundays closed.",
            "Der Vertrag endet am 31. Dezember 2024 und am 1. Werktag danach.",
            "Vom 5.–7. Mai und am 24.12. Heiligabend, die 3. Auflage, der 100. Kunde.",
            "Unter Wilhelm II. Kaiser von Deutschland.",
            "Mo. – Fr. 9 bis 18 Uhr. Samstags bis 14 Uhr.",
            "Siehe Def. 3. Abschnitt, App. B. Member, Anh. IV und ص. 5 د. في العدد.",
            "Tel. +49 30 1234, min. $5, max. 10 kg. Gepäck, ca. 5, núm. 5, pág. 12, Abt. 4.",
            "It is 5kg. Members pay less.",
        ]);
    }

    #[test]
    fn ordinary_short_sentences_end() {
        assert_split(&[
            "Is it free?|No.|You pay.",
            "We sell pens, etc.|Orders are free.",
            "We ship to the U.S.|The fee is 5.",
            "It costs 5 euros.|The fee is low.",
            "It opened in 2024.|The shop is new.",
            "It opened in 2024.|Shops are new.",
            "He said so.|In 5 days it ends.",
            "It is closed.|24 hours later it opens.",
            "Log in.|Click Save.|It costs $5.|Members pay $4.50.|It ends at 9:30.|Bring it.",
            "It is our design.|You can't.|Don't try.|We sell 50 %.|Members pay 5 EUR.|Others get COVID-19.|Smith says ‘W1’.|Smith met in San Diego, CA.|Here it goes.|We go.|WHO says D16.|Smith left.",
            "It ends on the 5.|We close.|The height is 6 ft.|The width is 5.",
            "Ja.|Das geht.|Der Vertrag endet am 31.|Die Kündigung ist frei.|Es kostet 12,50.|Kunden zahlen.",
            "Oui.|C'est vrai.|Il y en a 5.|Les autres non.|Il coûte 5 €.|Merci.",
            "Sí.|No es caro.|Son 5.|¿Cuánto cuesta?|¡Mucho!|Vale.",
            "انتهى عام 2024.|بدأ العمل.|العدد هو 5.|عينت وزارة.",
            "Visit example.com.|Mail a.b@example.com.|Open a.toml.|Use v1.2.3.|Read https://a.b/page.|Go.",
            "Done.|🎉 It works.|• One thing.|• Other things.",
        ]);
    }

    #[test]
    fn the_number_of_an_item_begins_a_sentence() {
        assert_split(&[
            "Steps: 1. Open the case.|2. The lid is off.|3. Close it.",
            "You need: 1. A box 2. The lid 3. The key.|الخطوات: 1. افتح 2. أغلق.",
            "Read the list.|The plan: A. The start.",
        ]);
    }

    #[test]
    fn text_that_is_no_sentence_end_is_not_split() {
        assert_whole(&["Visit example.com or mail a.b@example.com today.", "Yahoo! is one word here."]);
    }

    #[test]
    fn closing_marks_stay_with_their_sentence() {
        assert_eq!(
            split("He said \"yes.\" **Really.** (It is so.) Fine."),
            ["He said \"yes.\"", "**Really.**", "(It is so.)", "Fine."]
        );
    }

    #[test]
    fn code_spans_are_never_split() {
        assert_eq!(
            split("Run `a. B! C` now. Then ``x ` y. Z`` too."),
            ["Run `a. B! C` now.", "Then ``x ` y. Z`` too."]
        );
        assert_eq!(split("A lone ` tick. Next."), ["A lone ` tick.", "Next."]);
    }

    #[test]
    fn brackets_quotations_and_tags_are_never_split() {
        assert_whole(&[
            "Send it back (unopened. With the receipt. Soon) in 5 days.",
            "See [the guide. It helps](https://example.org/a \"Title. Yes\") now.",
            "He said: “I came. I saw. I went home” and left.",
            "He said “I came. I saw.” and left.",
            "Er sagt: „Ich kam. Ich sah. Ich ging“ und geht.",
            "Il dit : « Je vins. Je vis » et part.",
            "It is \"A. Then B. Then C\" and 'D. Then E' {F. Then G} <a title=\"H. Then I\">.",
            "We ship <!-- Note. Do not tell anyone. --> daily.",
            "「はい。いいえ。」と答えた。",
            "彼（今日は休み。明日は来る。）は元気。",
        ]);
        assert_split(&[
            "He said: “I came. I saw.”|Then he left.",
            "It ends.|(It starts. It ends.)|Fine.",
            "Il dit : « Oui. Non. »|Puis il part.",
        ]);
        assert_eq!(split("「はい。」彼は答えた。"), ["「はい。」", "彼は答えた。"]);
    }

    #[test]
    fn a_bracket_without_a_counterpart_does_not_join_sentences() {
        assert_split(&[
            "It is (open.|Then it is closed.",
            "A 6\" pipe is here.|A 8\" pipe is there.",
            "The '90s ended.|We don't care.|It's over.",
        ]);
        let far = format!("It is (open. {}Then) it.", "Then it is closed. ".repeat(50));
        assert_eq!(split(&far).len(), 52);
    }

    #[test]
    fn full_width_marks_need_no_space() {
        assert_eq!(split("退款需要五天。请联系我们！谢谢"), ["退款需要五天。", "请联系我们！", "谢谢"]);
    }

    #[test]
    fn sentences_of_other_scripts_end() {
        assert_split(&[
            "यह सही है।|वह गलत है॥|फिर से।",
            "یہ درست ہے۔|وہ غلط ہے۔",
            "هل هو مجاني؟|نعم هو كذلك.",
            "ይህ ነው።|ያ ነው።",
            "Սա ճիշտ է։|Դա սխալ է։",
        ]);
        assert_eq!(split("នេះ។នោះ។"), ["នេះ។", "នោះ។"]);
        assert_eq!(split("ဒါ။ဟို။"), ["ဒါ။", "ဟို။"]);
    }

    /// Words that may have a full stop of their own.
    const STOPPED: &[&str] = &[
        "5", "12", "31", "100", "24.12", "ft", "5 in", "lb", "oz", "kg", "min", "hrs", "Std", "Min", "Nr",
        "Rs", "Abs", "bzw", "usw", "inkl", "mind", "max", "z. B", "d. h", "p. ex", "p. ej", "env", "Sr",
        "Sra", "pág", "núm", "M", "Mo", "Okt", "U.S", "a.m", "J", "II", "Hauptstr", "Dr", "Mr", "No", "Art",
        "Fig",
    ];
    /// Words with a capital in the middle of a sentence.
    const NAMES: &[&str] = &[
        "Dezember",
        "Mai",
        "Kunden",
        "Members",
        "Smith",
        "Paris",
        "García",
        "May",
        "Seite",
        "5",
        "(5",
        "„Kunden",
    ];

    proptest! {
        #[test]
        fn no_sentence_ends_after_a_number_unit_or_abbreviation(
            words in proptest::collection::vec(
                prop_oneof![
                    3 => proptest::sample::select(STOPPED).prop_map(|word| format!("{word}.")),
                    3 => proptest::sample::select(NAMES).prop_map(str::to_owned),
                    2 => "[a-z]{3,9}",
                    1 => proptest::sample::select(&["The", "Die", "Les", "El", "It is.", "closed!", "(see", "below)"][..]).prop_map(str::to_owned),
                ],
                1..30,
            ),
        ) {
            let text = words.join(" ");
            let sentences = split(&text);
            for pair in sentences.windows(2) {
                let is_stopped = |word: &&&str| {
                    let before = pair[0].strip_suffix('.').and_then(|text| text.strip_suffix(**word));
                    before.is_some_and(|before| !before.ends_with(char::is_alphanumeric))
                };
                let begins_sentence = ["The", "Die", "Les", "El", "It"].iter().any(|word| pair[1].starts_with(word));
                if let Some(word) = STOPPED.iter().find(is_stopped) {
                    prop_assert!(begins_sentence, "{text:?}: {word:?}, then {:?}", pair[1]);
                }
            }
        }

        #[test]
        fn any_text_is_split_in_linear_time(
            text in "([a-z]{1,3}|[(){}<>\\[\\]\"'`«»“”„‘’]{1,9}|[.!?。] | |[\\PC]{0,9}){0,40}",
            times in prop_oneof![9 => Just(1_usize), 1 => Just(200)],
        ) {
            let text = text.repeat(times);
            let (_, work) = work::measure(|| sentences(&text, 0..text.len()));
            prop_assert!(work <= 20 * text.len(), "{work} for {}", text.len());
        }
    }
}
