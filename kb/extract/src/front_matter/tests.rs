use proptest::prelude::*;

use super::*;
use crate::{Format, document};

fn properties(text: &str) -> Properties {
    let front = read(text).unwrap();
    assert!(front.notes.is_empty(), "{:?}", front.notes);
    front.properties
}

fn message(text: &str) -> String {
    read(text).err().map(|error| error.to_string()).unwrap_or_default()
}

fn reason(text: &str) -> Option<String> {
    match read(text) {
        Err(ExtractError::NotPublished(reason)) => Some(reason),
        Err(error) => panic!("{text}: {error}"),
        Ok(_) => None,
    }
}

const TEXT: &str = "The director earns 90,000 euros.\n";

#[test]
fn yaml_and_toml_give_the_same_properties() {
    let expected = Properties {
        title: Some("Refunds: how".into()),
        url: Some("https://example.org/refunds".into()),
        language: Some("de-at".into()),
        audience: Some(vec!["team:sales".into(), "team:ops".into()]),
    };
    let yaml = "---\ntitle: 'Refunds: how'\nurl: https://example.org/refunds\nlang: de-AT\naudience: [team:sales, \
        'team: ops']\ntags: {a: 1}\n---";
    assert_eq!(properties(yaml), expected);
    let toml = "+++\r\ntitle = 'Refunds: how'\r\nurl = 'https://example.org/refunds'\r\nLanguage = 'de_AT'\r\n\
        date = 2024-01-01\r\naudience = ['team:sales', 'team:ops']\r\n+++";
    assert_eq!(properties(toml), expected);
    assert_eq!(properties("---\ntitle: 2024\naudience: team:sales\n---").audience.unwrap(), ["team:sales"]);
    assert_eq!(properties("---\n---"), Properties::default());
    assert_eq!(properties("---\ntitle:\n# only a comment\n---"), Properties::default());
}

#[test]
fn of_a_name_that_is_there_twice_the_last_value_counts_unless_another_keeps_the_document_out() {
    let front =
        read("---\ntitle: A\nurl: https://a.org/\nTitle: B\ndate: 2020-01-01\ndate: 2020-01-01\n---\n")
            .unwrap();
    assert_eq!(front.properties.title.as_deref(), Some("B"));
    assert_eq!(front.notes, ["has `Title` twice in its front matter; the last one counts"]);
    for hidden in [
        "draft: true\ndraft: false",
        "draft: false\ndraft: true",
        "draft: false\nDraft: true\ndraft: false",
        "published: false\npublished: true",
        "status: draft\nstatus: live",
        "publish_date: 2999-01-01\npublishDate: 2020-01-01",
        "expires: 2020-01-01\nexpires: 2999-01-01",
        "robots: noindex\nrobots: all",
    ] {
        assert!(reason(&format!("---\n{hidden}\n---\n{TEXT}")).is_some(), "{hidden}");
    }
    for inside in ["true, exclude: false", "false, exclude: true", "false, exclude: true, exclude: false"] {
        assert!(read(&format!("---\nsearch: {{exclude: {inside}}}\n---\n{TEXT}")).is_err(), "{inside}");
    }
    let same = read("---\naudience: team:hr\naudience: [team:hr]\n---\n").unwrap();
    assert_eq!(same.properties.audience.unwrap(), ["team:hr"]);
    for different in [
        "team:hr\naudience: team:all",
        "team:hr\nAudience: team:all\naudience: team:hr",
        "team:hr\naudience:",
    ] {
        assert!(
            message(&format!("---\naudience: {different}\n---\n{TEXT}")).contains("audience"),
            "{different}"
        );
    }
}

#[test]
fn front_matter_is_found_wherever_other_programs_find_it() {
    for block in [
        "---\naudience: team:hr\n---\n",
        "---\n\naudience: [team:hr]\n---\n",
        "---\n\n# For few\n\nAudience: team:hr\n...\n",
        "---\t\naudience: team:hr\n---\t\n",
        "--- \r\naudience: team:hr\r\n---\u{a0}\r\n",
        "\u{feff}---\naudience: team:hr\n---\n",
        "\u{feff}\u{200b} \n\n  ---\naudience: team:hr\n---\n",
        "---yaml\naudience: team:hr\n---\n",
        "---json\n{\"audience\": \"team:hr\"}\n---\n",
        "---\n{\"audience\": [\"team:hr\"]}\n---\n",
        "---toml\naudience = 'team:hr'\n---\n",
        "+++\n\naudience = ['team:hr']\n+++\n",
        "---\n# audience: team:all\naudience:\n  - team:hr # not: team:all\n---\n",
    ] {
        let text = format!("{block}{TEXT}");
        let front = read(&text).unwrap();
        assert_eq!(
            (front.properties.audience.unwrap(), front.body),
            (vec!["team:hr".to_owned()], TEXT),
            "{block}"
        );
        for format in [Format::Markdown, Format::PlainText, Format::Html] {
            let read = document(text.as_bytes(), format).unwrap();
            assert_eq!(
                (read.properties.audience.unwrap().len(), read.text.trim()),
                (1, TEXT.trim()),
                "{block}"
            );
        }
        let lines = text.replace("\r\n", "\n").replace('\n', "\r");
        assert!(
            document(lines.as_bytes(), Format::Markdown).unwrap().properties.audience.is_some(),
            "{block}"
        );
    }
}

#[test]
fn front_matter_that_is_not_understood_is_an_error_in_every_format() {
    for broken in [
        "---\naudience: [team:hr]\n--\n",
        "---\n\naudience: [team:hr]\n--\n",
        "---\ntitle: Salaries\n",
        "---\naudience: [team:hr]\n  ---\n",
        "---\naudience: [team:hr]\n+++\n",
        "---\naudience:\n---\n",
        "---\naudience: # team:hr\n---\n",
        "---\naudience:\n  # - team:hr\n---\n",
        "---\naudience: ~\n---\n",
        "---\nAudience: team:all\naudience: team:hr\n---\n",
        "---\naudience: team:all\naudience: team:hr\n---\n",
        "---\naudiences: team:hr\n---\n",
        "---\nparams:\n  audience: team:hr\n---\n",
        "---\nlist: [{Audience: team:hr}]\n---\n",
        "---\naudience:team:hr\n---\n",
        "---\ntitle: x\n- audience: team:hr\n---\n",
        "---\ntitle: 'open\n---\n",
        "---\ntitle: Fees: all\n---\n",
        "+++\ntitle = \n+++\n",
        "---coffee\ntitle: x\n---\n",
        "---\ndraft: maybe\n---\n",
        "---\npublishDate: soon\n---\n",
        "---\nexpires: soon\n---\n",
        "---\n{\nText.\naudience: [team:hr]\n}\n---\n",
        "---\n{\naudience = 'team:hr'\n}\n---\n",
        "<!-- (c) -->\n---\naudience: team:hr\n---\n",
        "# Salaries\n\n---\naudience: [\"team:hr\"]\n---\n",
        "audience: team:hr\n",
        "—\naudience: [team:ceo, team:hr]\n—\n",
    ] {
        for format in [Format::Markdown, Format::PlainText, Format::Html, Format::Csv] {
            let read = document(format!("{broken}\n{TEXT}").as_bytes(), format);
            let is_refused = matches!(read, Err(ExtractError::FrontMatter(_) | ExtractError::Audience(_)));
            assert!(is_refused, "{broken}: {read:?}");
        }
    }
    let long = format!("---\ntitle: {}\n---\n", "x".repeat(MAX_BYTES));
    assert!(message(&long).contains("longer than 64 KB"));
    assert!(message("---\ntitle: x\n").contains("it has no line `---` at its end"));
}

#[test]
fn text_below_a_rule_is_text() {
    for text in [
        "---\n\nNot front matter.\n\n---\n\nMore.\n",
        "---\n\nNote: we close at five.\n\n---\n",
        "---\nWe close at five.\n\nDaily.\n\n---\n",
        "---\n- a list\n---\n",
        "---\n\nWe close at five.\n",
        "----\naudience of all\n",
        "Audience: all employees (see [here](https://example.org)), from 9:00\n",
        "```yaml\n---\naudience: team:sales\n---\n```\n",
        "We open at 9.\n\n---\nNote: we close at five.\n---\n",
    ] {
        let front = read(text).unwrap();
        assert_eq!((front.body, front.properties), (text, Properties::default()), "{text}");
    }
}

#[test]
fn wrong_types_are_noted_and_the_rest_is_kept() {
    let front = read("---\ntitle: [a]\nurl: /here\nlang: en\ndate: in spring\n---").unwrap();
    assert_eq!(front.properties, Properties { language: Some("en".into()), ..Properties::default() });
    assert_eq!(front.notes.len(), 3);
    assert!(front.notes[2].contains("`url`"), "{:?}", front.notes);
}

#[test]
fn an_audience_that_cannot_be_stored_is_never_ignored() {
    for bad in [
        "5",
        "sales",
        "[]",
        "[team:sales, 7]",
        "{team: sales}",
        "'team:'",
        "':sales'",
        "\"a:\\x01\"",
        "email:bob@example.com",
        "[a:b, [c:d]]",
    ] {
        let error = message(&format!("---\naudience: {bad}\n---"));
        assert!(error.contains("audience: team:sales"), "{bad}: {error}");
    }
}

#[test]
fn a_document_that_its_author_does_not_publish_is_left_out() {
    for hidden in [
        "draft: true",
        "Draft: TRUE",
        "draft: \"true\"",
        "published: false",
        "unlisted: true",
        "private: true",
        "hidden: true",
        "noindex: true",
        "search: false",
        "search:\n  exclude: true",
        "search: {exclude: 'true'}",
        "pagefind: false",
        "publish: false",
        "robots: noindex, nofollow",
        "robots: [none]",
        "robots: {index: false}",
        "status: Draft",
        "visibility: private",
        "date: 2999-01-01",
        "date: 2999-01-01 10:00:00 -0700",
        "publishDate: 2999-01-01T00:00:00+02:00",
        "pubDate: '2999-12-31 10:00'",
        "published: 2999-01-01",
        "expiryDate: 2024-01-01",
        "Expires: 2024-01-01T10:00:00+02:00",
        "unpublish: '2024-01-01 10:00:00 -0700'",
        "unpublish_date: 2024-01-01",
        "unpublish: true",
        "head:\n  - - meta\n    - name: robots\n      content: noindex",
        "head:\n  - tag: meta\n    attrs: {name: robots, content: noindex}",
    ] {
        assert!(reason(&format!("---\ntitle: Prices\n{hidden}\n---\n{TEXT}")).is_some(), "{hidden}");
    }
    for toml in
        ["draft = true", "expiryDate = 2024-01-01", "date = 2999-01-01", "publishDate = 2999-01-01T10:00:00Z"]
    {
        assert!(reason(&format!("+++\n{toml}\n+++\n{TEXT}")).is_some(), "{toml}");
    }
    for shown in [
        "draft: false",
        "draft:",
        "published: true",
        "published: 2024-05-01",
        "search: {boost: 2}",
        "search: {exclude: false}",
        "unlisted: 'false'",
        "robots: index, follow",
        "status: accepted",
        "date: 1970-01-01",
        "date: 2024-02-29T23:59:60Z",
        "date: 2024-05-01 10:00:00 -0700",
        "visibility: public",
        "tags: [draft]",
        "expiryDate: 2999-01-01",
        "expires: 2999-01-01 10:00:00 -0700",
        "expires: false",
        "unpublish:",
    ] {
        assert_eq!(reason(&format!("---\n{shown}\n---\n{TEXT}")), None, "{shown}");
    }
    let draft = document(b"---\ndraft: true\n---\n<p>Text.</p>", Format::Html);
    assert!(matches!(draft, Err(ExtractError::NotPublished(_))), "{draft:?}");
}

#[test]
fn a_date_is_compared_with_the_second() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let today = |seconds: u64| {
        let (days, rest) = (seconds / 86_400, seconds % 86_400);
        // Days since 2000-03-01, within the years until 2100.
        let days = days - 11_017;
        let (years, day) = ((4 * days + 3) / 1461, days - (1461 * ((4 * days + 3) / 1461)) / 4);
        let month = (5 * day + 2) / 153;
        let (year, month, day) =
            (2000 + years + u64::from(month > 9), (month + 2) % 12 + 1, day - (153 * month + 2) / 5 + 1);
        format!("{year}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
    };
    assert_eq!(today(1_709_208_000), "2024-02-29T12:00:00Z");
    for (at, is_later) in [(now - 5, false), (now + 60, true), (now + 86_400 * 60, true)] {
        assert_eq!(is_to_come(&Value::String(today(at)), TWO_DAYS), Some(is_later), "{}", today(at));
    }
    let east = today(now + 3600).replace('Z', "+02:00");
    assert_eq!(is_to_come(&Value::String(east), TWO_DAYS), Some(false));
    // As Jekyll writes it.
    for (at, zone, is_later) in [
        (now - 60, " +0000", false),
        (now - 60, " UTC", false),
        (now + 60, " +0000", true),
        (now + 3600, " +0200", false),
        (now - 3600, " -02:00", true),
    ] {
        let date = today(at).replace('T', " ").replace('Z', zone);
        assert_eq!(is_to_come(&Value::String(date.clone()), TWO_DAYS), Some(is_later), "{date}");
    }
}

#[test]
fn a_post_is_to_come_by_the_date_of_its_name() {
    for later in ["2999-01-01-prices.md", "2999-1-5-prices.md", "9999-12-31-.md"] {
        assert!(is_post_to_come(later), "{later}");
    }
    for now in [
        "2024-01-01-prices.md",
        "24-1-1-prices.md",
        "prices-2999-01-01.md",
        "2999-01-01.md",
        "2999-13-01-x.md",
    ] {
        assert!(!is_post_to_come(now), "{now}");
    }
}

#[test]
fn a_file_that_names_an_expiry_may_expire() {
    for head in ["---\nexpiryDate: 2030-01-01\n---\n", "\u{feff}+++\ntitle = 'x'\nexpires = 2030-01-01\n+++"]
    {
        assert!(may_expire(head.as_bytes()), "{head}");
    }
    for head in ["---\ntitle: It expires\n---\n", "Expires: 2030-01-01", ""] {
        assert!(!may_expire(head.as_bytes()), "{head}");
    }
}

#[test]
fn yaml_bombs_are_stopped() {
    let mut bomb = "---\na0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for at in 1..20 {
        let before = format!("*a{}", at - 1);
        bomb += &format!("a{at}: &a{at} [{}]\n", [before.as_str(); 9].join(", "));
    }
    let started = std::time::Instant::now();
    assert!(message(&(bomb + "---")).contains("front matter"));
    let deep = format!("---\ntitle: {}\n---", "[".repeat(30_000));
    assert!(message(&deep).contains("front matter"));
    assert!(started.elapsed().as_secs() < 5);
}

#[test]
fn a_file_with_only_front_matter_has_no_content() {
    for format in [Format::Markdown, Format::PlainText, Format::Html, Format::Csv] {
        for end in ["", "\n", "\n \n", "\n,", "\n#", "\n-"] {
            let read = document(format!("---\ntitle: Prices\n---{end}").as_bytes(), format);
            let has_text = |read: &crate::document::Document| !read.text.trim().is_empty();
            assert!(read.as_ref().map_or(true, has_text), "{format:?} {end:?} {read:?}");
        }
    }
}

fn one_of(choices: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    proptest::sample::select(choices)
}

proptest! {
    #[test]
    fn an_audience_at_the_top_is_read_or_an_error(
        before in one_of(&["", "\u{feff}", "\n\n", " \t", "\u{200b}\n"]),
        fence in one_of(&["---", "+++", "---yaml", "---\t", "--- ", "---toml", "---json"]),
        lines in proptest::collection::vec(one_of(&["", "# note", "title: Pay", "title = 'Pay'", "tags:", "  - a", "a: {b: 1}", "[x]",
            "params:", "Text.", "\t", "audience: team:all", "{", "}"]), 0..5),
        audience in one_of(&["audience: [team:hr]", "Audience: team:hr", "\"audience\": team:hr,", "audience = 'team:hr'",
            "audience:team:hr", "audience:", "audience: # team:hr", "audience: ~", "audience:\n  - team:hr",
            "audience:\n  # - team:hr", "  audience: team:hr", "audiences: team:hr", "audience : team:hr", "audience："]),
        rest in proptest::collection::vec(one_of(&["", "# note", "title: Pay", "lang: de", "...", "Text.", "}"]), 0..3),
        end in one_of(&["---", "+++", "--", "---\t", "...", " ---", "", "----"]),
        line_end in one_of(&["\n", "\r\n"]),
    ) {
        let head = lines.iter().copied().chain([audience]).chain(rest.iter().copied());
        let block = [fence].into_iter().chain(head).chain([end, TEXT]).collect::<Vec<_>>().join("\n");
        let text = format!("{before}{block}").replace('\n', line_end);
        if let Ok(front) = read(&text) {
            prop_assert!(front.properties.audience.is_some(), "{text}");
        }
    }
}
