use proptest::prelude::*;

use super::*;
use crate::Format;
use crate::document::{Block, BlockKind};

fn read(markdown: &str) -> Document {
    crate::document(markdown.as_bytes(), Format::Markdown).unwrap()
}

/// The statements of a Markdown document that an answer may show.
fn shown(markdown: &str) -> Vec<String> {
    shown_of(&read(markdown))
}

fn shown_of(document: &Document) -> Vec<String> {
    statements(document)
        .iter()
        .filter(|statement| statement.is_quotable)
        .map(|statement| {
            let text = document.slice(&statement.range);
            chat_core::statement::shown_text(
                statement.kind,
                text,
                &statement.parts(document).iter().collect::<Vec<_>>(),
            )
        })
        .collect()
}

fn html(page: &str) -> Vec<String> {
    shown_of(&crate::document(page.as_bytes(), Format::Html).unwrap())
}

fn text(text: &str) -> Vec<String> {
    shown_of(&crate::document(text.as_bytes(), Format::PlainText).unwrap())
}

#[test]
fn an_item_stands_below_the_line_that_introduces_its_list() {
    assert_eq!(
        shown("**Covered by the insurance:**\n- Fire\n- Water\n\n**Not covered:**\n- Theft\n- Races"),
        [
            "Covered by the insurance: Fire",
            "Covered by the insurance: Water",
            "Not covered: Theft",
            "Not covered: Races"
        ]
    );
    assert_eq!(
        shown("The following damages are not covered by the insurance.\n\n- Theft"),
        [
            "The following damages are not covered by the insurance.",
            "The following damages are not covered by the insurance. Theft"
        ]
    );
    assert_eq!(
        html("<p>The insurance does not cover:<br>• Theft.<br>• Races.</p>").first().unwrap(),
        "The insurance does not cover: Theft."
    );
}

#[test]
fn an_item_has_all_items_above_it() {
    assert_eq!(
        shown("You may return within 30 days:\n\n- Clothes:\n  - Hats, except:\n    - worn hats"),
        ["You may return within 30 days: Clothes: Hats, except: worn hats"]
    );
    assert_eq!(
        shown("You may return:\n\n- shoes\n- hats, but not:\n\t- worn hats"),
        ["You may return: shoes", "You may return: hats, but not: worn hats"]
    );
    assert_eq!(
        html(
            "<p>The insurance does not cover:</p><ul><li>Damage to glass<ul><li>Windscreens</li></ul></li></ul>"
        ),
        [
            "The insurance does not cover: Damage to glass",
            "The insurance does not cover: Damage to glass: Windscreens"
        ]
    );
}

#[test]
fn code_and_paragraphs_inside_an_item_do_not_end_its_list() {
    assert_eq!(
        shown(
            "Do not do this:\n\n1. Stop the service:\n\n   ```\n   stop\n   ```\n\n2. Delete the folder. It is large."
        ),
        [
            "Do not do this: 1. Stop the service:\n\nstop",
            "Do not do this: 2. Delete the folder.",
            "Do not do this: 2. Delete the folder. It is large."
        ]
    );
    assert_eq!(
        shown("- Hats\n\n  These are excluded:\n\n  - worn hats").last().unwrap(),
        "Hats: These are excluded: worn hats"
    );
}

#[test]
fn a_row_has_the_names_of_its_columns() {
    assert_eq!(shown("| Damage | Excluded |\n|---|---|\n| Theft | yes |"), ["Theft – Excluded: yes"]);
    assert_eq!(
        shown("| Feature | Enterprise | Pro |\n|---|---|---|\n| Single sign-on | yes | |"),
        ["Single sign-on – Enterprise: yes; Pro: –"]
    );
    assert_eq!(
        shown("| Plan | Paid | Price |\n|---|---|---|\n| Basic | monthly | 5 € |\n| | yearly | 50 € |"),
        ["Basic – Paid: monthly; Price: 5 €", "Basic – Paid: yearly; Price: 50 €"]
    );
}

#[test]
fn a_table_without_a_header_has_none() {
    let table = "<table><tr><td>Price</td><td>9 €</td></tr><tr><td>Term</td><td>12 months</td></tr></table>";
    assert_eq!(html(table), ["Price: 9 €", "Term: 12 months"]);
    // Nobody says what its columns are.
    let three =
        "<table><tr><td>Pro</td><td>9</td><td>40</td></tr><tr><td>Max</td><td>19</td><td>0</td></tr></table>";
    assert!(html(three).is_empty());
}

#[test]
fn a_row_has_its_group_and_the_line_above_its_table() {
    let page = "<p>All prices are in euros.</p><table><tr><th>Treatment</th><th>Minutes</th></tr>\
        <tr><th colspan=2>Not available for guests under 18</th></tr><tr><td>Mud bath</td><td>30</td></tr></table>";
    assert_eq!(
        html(page).last().unwrap(),
        "All prices are in euros. Not available for guests under 18: Mud bath – Minutes: 30"
    );
}

#[test]
fn a_heading_that_limits_is_part_of_what_is_below_it() {
    assert_eq!(
        shown(
            "# API\n\n## Deprecated\n\nUse the header `X-Token`.\n\n## Current\n\nUse the header `Authorization`."
        ),
        ["Deprecated: Use the header X-Token.", "Use the header Authorization."]
    );
    assert_eq!(
        shown("# Tours\n\n## Included\n\n- Breakfast\n\n## Extras\n\n- Towels"),
        ["Included: Breakfast", "Extras: Towels"]
    );
}

#[test]
fn an_answer_stands_below_its_question() {
    let expected =
        ["Can I return sale items? No, they are final.", "Do you ship to Norway? Not at the moment."];
    assert_eq!(
        shown(
            "**Can I return sale items?**\n\nNo, they are final.\n\n**Do you ship to Norway?**\n\nNot at the moment."
        ),
        expected
    );
    assert_eq!(
        shown("Q: Can I return sale items?\n\nNo, they are final.\n\nQ: Do you ship to Norway?\n\nNot at the moment.")
            .iter()
            .map(|text| text.trim_start_matches("Q: "))
            .collect::<Vec<_>>(),
        expected
    );
    let details = "<details><summary>Can I return sale items?</summary><p>No, they are final.</p></details>\
        <details><summary>Do you ship to Norway?</summary><p>Not at the moment.</p></details>";
    assert_eq!(html(details), expected);
    let terms = "<dl><dt>Can I return sale items?</dt><dd>No, they are final.</dd><dt>Do you ship to Norway?</dt><dd>Not at the moment.</dd></dl>";
    assert_eq!(html(terms), expected);
    assert_eq!(shown("Can I return sale items? No, they are final."), [expected[0]]);
}

#[test]
fn code_stands_below_its_warning() {
    assert_eq!(
        shown(
            "Never do this, it deletes all customers:\n\n```\ndb reset --force\n```\n\nNever run this on the live server."
        ),
        [
            "Never do this, it deletes all customers:\n\ndb reset --force\nNever run this on the live server.",
            "Never run this on the live server."
        ]
    );
}

#[test]
fn a_sentence_that_points_back_has_the_sentence_it_points_to() {
    assert_eq!(
        shown("The Pro plan costs 9 euros. It includes chat. It has no phone support."),
        [
            "The Pro plan costs 9 euros.",
            "The Pro plan costs 9 euros. It includes chat.",
            "The Pro plan costs 9 euros. It includes chat. It has no phone support."
        ]
    );
    assert_eq!(
        shown("Not accepted are 5 cent coins. The same applies to notes.").last().unwrap(),
        "Not accepted are 5 cent coins. The same applies to notes."
    );
}

#[test]
fn a_sentence_that_the_next_one_refutes_has_it() {
    assert_eq!(
        shown("Many beekeepers believe that smoke calms bees. It does not.").first().unwrap(),
        "Many beekeepers believe that smoke calms bees. It does not."
    );
}

#[test]
fn conditions_belong_to_the_sentences_that_point_to_them() {
    assert_eq!(
        shown("Delivery is free.\\*\n\nWe pack well.\n\n\\* Only for orders above 900 euros."),
        ["Delivery is free.* * Only for orders above 900 euros.", "We pack well."]
    );
    assert_eq!(
        shown("Delivery is free.[^1]\n\n[^1]: Only above 900 euros."),
        ["Delivery is free.¹ Only above 900 euros.", "Delivery is free.¹ Only above 900 euros."]
    );
}

#[test]
fn a_notice_at_the_top_holds_for_all() {
    assert_eq!(
        shown(
            "# Guide\n\nThis page is about version 2, which is no longer supported.\n\n## Install\n\nRun the installer."
        ),
        [
            "This page is about version 2, which is no longer supported.",
            "This page is about version 2, which is no longer supported. Run the installer."
        ]
    );
}

#[test]
fn a_sentence_that_says_what_its_page_tells_is_no_notice() {
    assert_eq!(
        shown("# Access\n\nThis page says what works and what does not work yet.\n\n## Shop\n\nCall us.")
            .last()
            .unwrap(),
        "Call us."
    );
}

#[test]
fn a_name_in_small_letters_begins_a_sentence() {
    for sentence in [
        "`kb sync` adds documents.",
        "[serde](x) reads JSON.",
        "crates.io lists all of them.",
        "iPhones are supported.",
        "retention_days sets the period.",
    ] {
        let shown = shown(&format!("Set:\n\n- a\n- b\n\n{sentence}"));
        let sentence = sentence.replace(['`', '[', ']'], "").replace("(x)", "");
        assert_eq!(shown, ["Set: a", "Set: b", &sentence]);
    }
    assert_eq!(shown("# nom, a parser\n\nnom's parsers are fast."), ["nom's parsers are fast."]);
    assert!(shown("# Returns\n\nreturns within 30 days.").is_empty());
    assert!(shown("# Returns\n\ne-mail within 30 days.").is_empty());
    // A name in code does not limit.
    assert_eq!(shown("# For no_std\n\nCall `alloc`."), ["Call alloc."]);
}

#[test]
fn only_a_short_line_needs_its_heading() {
    let long = "The pool is open from May on if the weather allows it. ".repeat(3);
    assert_eq!(shown(&format!("# Pool\n\n{long}Come in")).last().unwrap(), "Come in");
    assert_eq!(shown("# Club\n\nSie rief: „Kommt alle.“").last().unwrap(), "Sie rief: „Kommt alle.“");
}

#[test]
fn a_list_that_goes_on_is_no_part_of_what_its_item_announced() {
    assert_eq!(
        shown("Rules:\n\n1. We read your data for:\n  - support\n\n2. We pay.").last().unwrap(),
        "Rules: 2. We pay."
    );
    assert_eq!(
        shown("1. Stop it.\n2. Never run:\n\n```\nrm\n```\n\n3. Start it.").last().unwrap(),
        "3. Start it."
    );
}

#[test]
fn a_line_of_links_is_what_no_word_means() {
    assert_eq!(
        shown("# Anyhow\n\n[docs](a) [build](b)\n\nThis library reads errors."),
        ["Anyhow: This library reads errors."]
    );
    assert_eq!(shown("**[Start](a) · [Play](b)**\n\nIt is free to use.").len(), 0);
    assert_eq!(shown("**[Start](a) · [Play](b)**\n\nWe quote.").last().unwrap(), "We quote.");
    assert_eq!(
        shown("| Country | Capital |\n|---|---|\n| [France](f) | [Paris](p) |"),
        ["France – Capital: Paris"]
    );
}

#[test]
fn a_smiley_announces_nothing() {
    assert_eq!(shown("We pack it for you :)\n\nCome in."), ["We pack it for you :)", "Come in."]);
}

#[test]
fn an_announcement_holds_for_all_fragments_labels_and_headings_below_it() {
    assert_eq!(
        shown("Not covered:\n\nTheft\n\nLoss\n\nWe are open daily. Come in."),
        ["Not covered: Theft", "Not covered: Loss", "We are open daily.", "Come in."]
    );
    assert_eq!(
        shown(
            "# Terms\n\nThe following is excluded:\n\n**Glass**\n\nWindows and mirrors.\n\n**Water**\n\nFloods."
        ),
        [
            "The following is excluded: Glass: Windows and mirrors.",
            "The following is excluded: Water: Floods."
        ]
    );
    assert_eq!(
        shown("# Terms\n\nNot covered are:\n\n## Theft\n\nIf it is stolen.\n\n# Contact\n\nCall us."),
        ["Not covered are: Theft: If it is stolen.", "Call us."]
    );
    assert_eq!(
        shown("The basic plan is cheap. It does not include:\n\n- support").last().unwrap(),
        "The basic plan is cheap. It does not include: support"
    );
}

#[test]
fn a_complete_sentence_above_items_that_are_sentences_is_not_their_lead_in() {
    assert_eq!(
        shown("# Tips\n\nTheft is not insured.\n\n- Fire is covered.\n- Water is covered."),
        ["Theft is not insured.", "Fire is covered.", "Water is covered."]
    );
}

#[test]
fn what_follows_a_list_may_limit_it() {
    assert_eq!(
        shown("You must not copy:\n\n- texts\n\nunless we agree in writing."),
        [
            "You must not copy: texts unless we agree in writing.",
            "You must not copy: unless we agree in writing."
        ]
    );
    assert_eq!(
        shown("We do not refund:\n\n- tickets\n\nThis does not apply to members.").first().unwrap(),
        "We do not refund: tickets This does not apply to members."
    );
}

#[test]
fn a_heading_that_asks_is_the_question_of_what_is_below_it() {
    assert_eq!(shown("## Are dogs allowed?\n\nNo."), ["Are dogs allowed? No."]);
    assert_eq!(
        shown("**Can I return it?**\n\nNo.\n\n**What does it cost?** It is free."),
        ["Can I return it? No.", "What does it cost? It is free."]
    );
    assert_eq!(shown("## Minimum age\n\n18"), ["Minimum age: 18"]);
}

#[test]
fn a_heading_does_not_hold_behind_its_section() {
    assert_eq!(
        html("<section><h2>Not covered</h2><p>Theft.</p></section><section><p>Call us.</p></section>"),
        ["Not covered: Theft.", "Call us."]
    );
}

#[test]
fn tables_have_all_names_that_give_their_cells_a_meaning() {
    let head = "<table><thead><tr><td>Damage</td><td>Excluded</td></tr></thead><tr><td>Theft</td><td>yes</td></tr></table>";
    assert_eq!(html(head), ["Theft – Excluded: yes"]);
    let corner = "<table><tr><td></td><th>Basic</th><th>Pro</th></tr><tr><td>API</td><td>no</td><td>yes</td></tr></table>";
    assert_eq!(html(corner), ["API – Basic: no; Pro: yes"]);
    let seasons = "<table><tr><th>Room</th><th colspan=2>Summer</th></tr><tr><th></th><th>Single</th><th>Double</th></tr>\
        <tr><td>Sea view</td><td>100</td><td>150</td></tr></table>";
    assert_eq!(html(seasons), ["Sea view – Summer – Single: 100; Summer – Double: 150"]);
    let over =
        "<table><tr><th colspan=2>Not covered</th></tr><tr><td>Theft</td><td>since 2020</td></tr></table>";
    assert_eq!(html(over), ["Not covered: Theft: since 2020"]);
    assert_eq!(shown("| Not covered |\n|---|\n| Theft |"), ["Not covered: Theft"]);
    assert_eq!(
        shown("| Name | Basic | Pro |\n|---|---|---|\n| Export | | |\n| API | yes | yes |"),
        ["Export – Basic: –; Pro: –", "API – Basic: yes; Pro: yes"]
    );
}

#[test]
fn the_number_of_a_chapter_does_not_limit() {
    assert_eq!(shown("# Handbook 2024\n\n## 2.5 Claims\n\nWe pay."), ["We pay."]);
}

#[test]
fn tabs_name_their_content() {
    assert_eq!(
        shown("=== \"macOS\"\n\n    Open the image.\n\n=== \"Windows\"\n\n    Run the setup."),
        ["macOS: Open the image.", "Windows: Run the setup."]
    );
}

#[test]
fn links_and_open_boxes_are_no_statements() {
    assert_eq!(
        shown("Features:\n\n- [x] Export\n- [ ] Single sign-on\n- [How do I pay?](pay.md)\n- [Contact](x)"),
        ["Features: Export"]
    );
}

#[test]
fn numbers_of_items_are_shown() {
    assert_eq!(
        shown("Change it:\n\n1. Switch it off.\n2. Remove the screws.")[1],
        "Change it: 2. Remove the screws."
    );
}

#[test]
fn struck_text_is_no_text() {
    assert_eq!(shown("~~Dogs are welcome.~~ Cats are welcome."), ["Cats are welcome."]);
}

#[test]
fn a_mark_anywhere_in_a_chain_brings_its_condition() {
    let condition = "* Only with the Plus plan.";
    for (markdown, expected) in [
        (
            "| Plan | Price\\* |\n|---|---|\n| Basic | 5 € |\n\n\\* Only with the Plus plan.",
            "Basic – Price*: 5 €",
        ),
        ("Not covered\\*:\n\n- Theft\n\n\\* Only with the Plus plan.", "Not covered*: Theft"),
        (
            "## Half price\\*\n\nAll bikes are cheap.\n\n\\* Only with the Plus plan.",
            "Half price*: All bikes are cheap.",
        ),
        ("## Is it free?\\*\n\nYes.\n\n\\* Only with the Plus plan.", "Is it free?* Yes."),
        ("**Included\\***\n\nBreakfast.\n\n\\* Only with the Plus plan.", "Included*: Breakfast."),
        (
            "The pool is free.\\* It has no sauna.\n\n\\* Only with the Plus plan.",
            "The pool is free.* It has no sauna.",
        ),
    ] {
        assert_eq!(shown(markdown).last(), Some(&format!("{expected} {condition}")), "{markdown}");
    }
}

#[test]
fn a_condition_may_have_any_mark_and_form() {
    for (page, expected) in [
        ("<p>Free†</p><p>† Not in May.</p>", "Free† † Not in May."),
        ("<p>Ab 9 €<sup>1</sup></p><p><sup>1</sup> Nur online.</p>", "Ab 9 €¹ ¹ Nur online."),
        ("<p>Ab 9 € <sup>1)</sup></p><p><sup>1)</sup> Nur online.</p>", "Ab 9 € ¹⁾ ¹⁾ Nur online."),
        ("<p>Dès 9 €<sup>1</sup></p><p>1 Hors frais.</p>", "Dès 9 €¹ 1 Hors frais."),
        ("<p>Desde 9 €(1).</p><p>(1) Sin IVA.</p>", "Desde 9 €(1). (1) Sin IVA."),
        ("<p>Free parking [3]</p><p>[3] First hour.</p><p>Call us.</p>", "Free parking [3] [3] First hour."),
        ("<p>Gratis (*)</p><p>(*) Solo soci.</p>", "Gratis (*) (*) Solo soci."),
        ("<p>Gratis**</p><p>*) Nur online. **) Nur mit Karte.</p>", "Gratis** **) Nur mit Karte."),
        ("<p>Gratis**</p><p>* Alleen online.<br>** Met kaart.</p>", "Gratis** ** Met kaart."),
        ("<p>* Nur online.</p><p>Kostenlos*</p>", "Kostenlos* * Nur online."),
        ("<ul><li>Free*</li><li>Paid</li></ul><ul><li>* Not in May.</li></ul>", "Free* * Not in May."),
        (
            "<table><tr><th>Plan</th><th>Price</th></tr><tr><td>A</td><td>5 €*</td></tr>\
             <tr><td colspan=2>* plus VAT</td></tr></table>",
            "A – Price: 5 €* * plus VAT",
        ),
    ] {
        assert!(html(page).contains(&expected.to_owned()), "{page}: {:?}", html(page));
    }
    assert_eq!(
        shown("Delivery is free.\\* Setup costs more.\n\n* Only for orders above 900 euros."),
        ["Delivery is free.* Only for orders above 900 euros.", "Setup costs more."]
    );
    // Several lists of one item are no conditions.
    let log = shown("Free\\*\n\n## 2\n\n- Repairs.\n\n## 1\n\n- Begins.");
    assert_eq!(log, ["2: Repairs.", "1: Begins."]);
    assert_eq!(
        text("Delivery is free.*\nSetup costs 50 EUR.**\n\n* Only above 900 EUR.\n** Once per customer."),
        ["Delivery is free.* * Only above 900 EUR.", "Setup costs 50 EUR.** ** Once per customer."]
    );
}

#[test]
fn a_mark_that_leads_to_nothing_forbids_to_quote() {
    for page in ["<p>Prices from 5 €*</p>", "<p>Delivery is free.* We pack well.</p>", "<p>Gratis†</p>"] {
        assert!(html(page).iter().all(|text| !text.contains(['*', '†'])), "{page}");
    }
    assert!(
        html("<table><tr><th>Plan</th><th>Price*</th></tr><tr><td>A</td><td>5 €</td></tr></table>")
            .is_empty()
    );
}

#[test]
fn other_asterisks_are_no_marks() {
    for text in [
        "A box of 5 * 3 is 15.",
        "All files that match *.txt or src/**/*.rs are read.",
        "Run SELECT * FROM orders.",
        "Import java.util.* first.",
        "We run a 4* hotel in Berlin.",
        "The A* algorithm finds it.",
        "Der Gruß gilt Kund*innen.",
        "The flat has 50 m² and 10⁶ cells.",
        "Call foo(*args) twice.",
        "We set **bold text** that was left over.",
        "Anna (* 1950) lives here.",
        "See paragraph (2) and (3).",
        "Set version = \"*\" to take any.",
        "The dropdown**,** port and menu are shown.",
        "Version 1.2.* runs everywhere.",
        "The shop does *not* open.",
        "Start no line with \"* \" inside a block.",
    ] {
        assert!(html(&format!("<p>Well.</p><p>{text}</p>")).contains(&text.to_owned()), "{text}");
    }
    assert_eq!(
        shown("| Name | Type |\n|---|---|\n| id\\* | string |\n| `key`\\* | string |"),
        ["id* – Type: string", "key* – Type: string"]
    );
    assert_eq!(shown("Delete it:\n\n```\nrm -rf a*\n```"), ["Delete it:\n\nrm -rf a*"]);
    assert_eq!(
        html("<p>(1) The tenant pays. See (2).</p><p>(2) The landlord repairs.</p><p>Signed in May.</p>")
            .last()
            .unwrap(),
        "Signed in May."
    );
}

#[test]
fn a_status_line_below_a_heading_holds_for_its_section() {
    for line in [
        "> **Deprecated**",
        "Stability: 0 - Deprecated",
        "*Experimental*",
        "Only for members.",
        "Beta",
        "**Nur für Mitglieder**",
        "(Uniquement en ligne)",
        "*Solo para socios*",
        "> Non più supportato",
        "Niet voor bedrijven.",
    ] {
        let markdown = format!(
            "# Guide\n\n## Pool\n\n{line}\n\nIt opens at 9.\n\n### Rules\n\nBring a towel.\n\n## Bar\n\nCome in."
        );
        let found = shown(&markdown);
        let line = line.trim_matches(['>', '*', ' ']);
        let joint = if line.ends_with('.') { " " } else { ": " };
        assert!(found.contains(&format!("{line}{joint}Bring a towel.")), "{found:?}");
        assert_eq!(found.last().unwrap(), "Come in.");
    }
}

#[test]
fn several_lines_below_a_heading_may_be_its_status() {
    let found = shown("## foo()\n\n*Added in v2.0*\n\n> Beta\n\n(Not on Windows)\n\nReturns the sum.");
    assert_eq!(found.last().unwrap(), "Beta: (Not on Windows): foo(): Returns the sum.");
}

#[test]
fn a_line_that_is_one_of_several_is_no_status_of_its_section() {
    assert_eq!(
        shown("## Prices\n\nNot included\n\n- Lunch\n\nIncluded\n\n- Wifi"),
        ["Not included: Lunch", "Included: Wifi"]
    );
    assert_eq!(
        shown("## Cover\n\n**Not covered**\n\nTheft.\n\n**Covered**\n\nFire."),
        ["Not covered: Theft.", "Covered: Fire."]
    );
    assert_eq!(
        shown("## Cover\n\n*Not covered*\n\nTheft.\n\n*Covered*\n\nFire."),
        ["Not covered: Theft.", "Covered: Fire."]
    );
    assert_eq!(
        shown("# Terms\n\n*Last updated: 1 May 2023*\n\nYou pay monthly.").last().unwrap(),
        "You pay monthly."
    );
    assert_eq!(shown("## Pro\n\nSSO: no\n\nThe fee is 9 €.").last().unwrap(), "The fee is 9 €.");
}

#[test]
fn an_item_that_names_others_is_their_label() {
    assert_eq!(
        shown("- Included:\n- Breakfast\n- Not included:\n- Lunch\n- Towels"),
        ["Included: Breakfast", "Not included: Lunch", "Not included: Towels"]
    );
    assert_eq!(
        html("<ul><li><b>Exclus</b></li><li>Vol</li><li><b>Inclus</b></li><li>Feu</li></ul>"),
        ["Exclus: Vol", "Inclus: Feu"]
    );
    assert_eq!(
        html(
            "<ul><li>Included:<ul><li>Wifi</li></ul></li><li>Not included:</li><ul><li>Lunch</li></ul></ul>"
        ),
        ["Included: Wifi", "Not included: Lunch"]
    );
    assert_eq!(
        shown("1. We keep data. It is deleted when:\n2. you ask\n3. you leave").first().unwrap(),
        "1. We keep data."
    );
    assert_eq!(shown("- **Free wifi.**\n- Breakfast"), ["Free wifi.", "Breakfast"]);
    assert_eq!(html("<ul><li>Nicht enthalten:</li></ul><ul><li>Essen</li></ul>"), ["Nicht enthalten: Essen"]);
}

#[test]
fn a_list_goes_on_after_a_sentence() {
    assert_eq!(
        shown("Not covered:\n\n- Theft\n\nPlease read on.\n\n- War").last().unwrap(),
        "Not covered: Please read on. War"
    );
    // Numbered headings of a text are no list that goes on.
    assert_eq!(
        text("Terms\n\n1. SCOPE\n\nIt holds for all.\n\n2. COVER\n\nFire is insured.").last().unwrap(),
        "Fire is insured."
    );
}

#[test]
fn what_an_item_says_about_itself_at_its_end_belongs_to_it() {
    assert_eq!(
        shown("- foo: Use `foo`.\n\n  *Deprecated*\n\n- bar: Use `bar`.\n\n  > Not on Windows"),
        ["foo: Use foo. Deprecated", "bar: Use bar. Not on Windows"]
    );
}

#[test]
fn the_start_of_a_sentence_above_a_list_is_no_answer() {
    assert_eq!(
        shown("We ship to all countries except\n\n- Norway"),
        ["We ship to all countries except: Norway"]
    );
    assert_eq!(shown("Nicht erlaubt sind\n\n| Tier |\n|---|\n| Hund |"), ["Nicht erlaubt sind: Tier: Hund"]);
    assert_eq!(shown("Never run\n\n```\nrm\n```"), ["Never run\n\nrm"]);
    assert_eq!(
        shown("You may bring:\n\n- cats, but not\n  - wild ones"),
        ["You may bring: cats, but not: wild ones"]
    );
    // A figure says something without its list.
    assert_eq!(shown("## Pro\n\n9 € per month\n\n- Chat").first().unwrap(), "Pro: 9 € per month");
}

#[test]
fn a_line_above_a_list_says_nothing_about_the_list_before() {
    assert_eq!(shown("Allowed:\n\n- Dogs\n\nNot allowed:\n\n- Cats"), ["Allowed: Dogs", "Not allowed: Cats"]);
}

#[test]
fn hearsay_has_the_sentence_after_it() {
    assert_eq!(shown("A claim needs the receipt. We answer.").first().unwrap(), "A claim needs the receipt.");
    assert_eq!(
        shown("When we say fee, we mean 5 €. We answer.").first().unwrap(),
        "When we say fee, we mean 5 €."
    );
    for (text, next) in [
        ("Some claim that honey never spoils.", "We disagree."),
        ("It is often said that batteries last 10 years.", "Three are normal."),
        ("Viele glauben, dass Rauch Bienen beruhigt.", "Dafür gibt es keinen Beleg."),
        ("On dit que le vol est couvert.", "Nos contrats l'excluent."),
        ("Muchos creen que es gratis.", "Hay que pagar."),
        ("Molti credono che sia gratis.", "Bisogna pagare."),
        ("Velen denken dat het gratis is.", "Men moet betalen."),
        ("We used to ship to Norway.", "We stopped in 2022."),
    ] {
        assert_eq!(shown(&format!("{text} {next}")).first().unwrap(), &format!("{text} {next}"));
    }
}

#[test]
fn a_quotation_has_its_author() {
    assert_eq!(
        shown("\"The room was dirty.\"\n\n– A guest, 2019"),
        ["\"The room was dirty.\" – A guest, 2019"]
    );
    assert_eq!(
        html("<blockquote><p>The room was dirty.</p><p>We left.</p><p>— Anna</p></blockquote>"),
        ["The room was dirty. — Anna", "We left. — Anna"]
    );
    assert_eq!(
        shown("We ask them:\n\nNo is fine.\n\n— Ivan, maintainer\n\n- Rest").last().unwrap(),
        "We ask them: No is fine. Rest"
    );
    assert_eq!(shown("Rain may fall.\n\n– as always in May –"), ["Rain may fall.", "– as always in May –"]);
}

#[test]
fn a_sentence_that_leans_on_another_has_it() {
    for (first, second) in [
        ("Members enter free.", "Others pay 10 €."),
        ("Cancel up to 24 hours before.", "After that, we keep 50 %."),
        ("A family ticket is cheaper.", "For example, four people pay 40 €."),
        ("Stornieren Sie 24 Stunden vorher.", "Danach fallen 50 % an."),
        ("Mitglieder zahlen nichts.", "Alle anderen zahlen 10 €."),
        ("Familien sparen.", "Zum Beispiel zahlen vier Personen 40 €."),
        ("Êtes-vous membre ?", "Si oui, c'est gratuit."),
        ("Les membres entrent gratuitement.", "Tous les autres paient 10 €."),
        ("Los socios entran gratis.", "Los demás pagan 10 €."),
        ("Los socios entran gratis.", "En caso contrario, se pagan 10 €."),
        ("I soci entrano gratis.", "Gli altri pagano 10 €."),
        ("Os sócios entram grátis.", "Os outros pagam 10 €."),
        ("Leden gaan gratis naar binnen.", "Anderen betalen 10 €."),
        ("Bent u lid?", "Zo ja, dan is het gratis."),
    ] {
        assert_eq!(shown(&format!("{first} {second}")).last().unwrap(), &format!("{first} {second}"));
    }
    for alone in [
        "The first step is easy.",
        "Le premier mois est offert.",
        "Depuis le 1er mai, on paie.",
        "Later changes cost 5 €.",
    ] {
        assert_eq!(shown(&format!("We are open. {alone}")).last().unwrap(), alone);
    }
}

#[test]
fn marks_inside_longer_marks_are_found() {
    let document = read("**Bold with [a. Link](x) and more. Text** and `co. De` end.");
    let all = document.marks_in(&(0..document.text.len())).count();
    assert_eq!(all, 3);
    let more = document.text.find("more").unwrap();
    assert_eq!(document.marks_in(&(more..more + 4)).count(), 1);
}

#[test]
fn a_part_says_where_its_first_character_is() {
    let document = read("Nicht für Gäste über 18:\n\n- Öl\n- Käse");
    let found = statements(&document);
    for statement in &found {
        for part in statement.parts(&document) {
            let text: String =
                document.text.chars().skip(part.start).take(part.text.chars().count()).collect();
            assert_eq!(text, part.text);
        }
    }
    assert!(found.iter().any(|statement| !statement.chain.is_empty()));
}

fn csv(table: &str) -> Vec<String> {
    shown_of(&crate::document(table.as_bytes(), Format::Csv).unwrap())
}

#[test]
fn a_row_without_a_label_has_that_above_it_where_this_is_clear() {
    assert_eq!(
        csv("Kurs;Tag;Status\nYoga;Mo;voll\n;Di;frei\n"),
        ["Yoga – Tag: Mo; Status: voll", "Yoga – Tag: Di; Status: frei"]
    );
    assert_eq!(csv("Kurs;Tag;Status\nPilates;;frei\n;Di;voll\n"), ["Pilates – Tag: –; Status: frei"]);
}

#[test]
fn columns_that_stand_against_each_other_are_both_named() {
    assert_eq!(
        shown("| Covered | Not covered |\n|---|---|\n| Fire | Theft |"),
        ["Covered: Fire – Not covered: Theft"]
    );
    assert_eq!(shown("| Do | Don't |\n|---|---|\n| Walk | Run |"), ["Do: Walk – Don't: Run"]);
}

#[test]
fn a_row_of_one_cell_that_limits_is_the_group_of_the_rows_below() {
    assert_eq!(
        csv("Plan,Users,Price\nBasic,1,5\nNot for new customers,,\nOld,1,3\nFor all,,\nPro,2,9\n"),
        [
            "Basic – Users: 1; Price: 5",
            "Not for new customers: Old – Users: 1; Price: 3",
            "For all: Pro – Users: 2; Price: 9"
        ]
    );
}

#[test]
fn a_bare_yes_needs_a_line_or_column_that_says_what_it_is_about() {
    let table = "<table><tr><td>Theft</td><td>ja</td></tr><tr><td>Fire</td><td>✗</td></tr></table>";
    assert!(html(table).is_empty());
    assert_eq!(html(&format!("<h2>Excluded</h2>{table}")), ["Excluded: Theft: ja", "Excluded: Fire: ✗"]);
}

#[test]
fn the_sentence_above_a_picture_is_above_the_list_below_it() {
    assert_eq!(
        shown("We accept none of these cards.\n\n![](cards.png)\n\n- Visa").last().unwrap(),
        "We accept none of these cards. Visa"
    );
    assert_eq!(
        shown("We accept none of these cards.\n\nCards\n\n![](cards.png)\n\n- Visa").last().unwrap(),
        "We accept none of these cards. Cards: Visa"
    );
}

#[test]
fn an_announcement_that_refers_to_one_above_a_list_does_not_repeat_it() {
    assert_eq!(
        shown("The policy does not cover:\n\n- Theft\n\nIt covers:\n\n- Fire").last().unwrap(),
        "It covers: Fire"
    );
    assert_eq!(
        shown("You may not bring:\n\n- Dogs\n\nNeither:\n\n- Cats").last().unwrap(),
        "You may not bring: Neither: Cats"
    );
}

#[test]
fn lines_with_markers_that_markdown_does_not_know_are_items() {
    assert_eq!(
        shown("Not covered:\n• War.\n• Theft. We mean all kinds.\n\nCome in."),
        ["Not covered: War.", "Not covered: Theft.", "Not covered: Theft. We mean all kinds.", "Come in."]
    );
    assert_eq!(
        shown("Nicht erlaubt ist:\n– Rauchen.\n– Grillen."),
        ["Nicht erlaubt ist: Rauchen.", "Nicht erlaubt ist: Grillen."]
    );
    assert_eq!(
        shown("We do not pay for:\n(a) wear.\n(b) **fines**. These may be high."),
        [
            "We do not pay for: (a) wear.",
            "We do not pay for: (b) fines.",
            "We do not pay for: (b) fines. These may be high."
        ]
    );
    assert_eq!(
        html("<p>Non couverts :<br>1. Le vol.<br>2. La guerre.</p>"),
        ["Non couverts : 1. Le vol.", "Non couverts : 2. La guerre."]
    );
    assert_eq!(html("<p>We open on<br>1. May.</p>"), ["We open on 1. May."]);
    assert_eq!(
        shown("Compris :\n– le wifi.\n– le thé.\nNon compris :\n– la taxe.\n– le vin.").last().unwrap(),
        "Non compris : le vin."
    );
}

#[test]
fn a_reference_without_its_note_forbids_to_quote() {
    assert!(shown("It is free.[^1]").is_empty());
    assert!(shown("Es kostet 12 €.[2]").is_empty());
    assert_eq!(shown("Read `[^1]` and names[2]."), ["Read [^1] and names[2]."]);
}

#[test]
fn a_sentence_without_its_verb_or_subject_has_the_one_before() {
    for (first, second) in [
        ("The free plan has no chat.", "The Pro plan does."),
        ("Tickets from April are valid.", "Tickets purchased after that date are not."),
        ("Am 24. Dezember schließen wir um 12 Uhr.", "Am 31. Dezember auch."),
        ("Gratuit le dimanche.", "Payant les autres jours."),
        ("Wir zahlen nicht bei Vorsatz.", "In allen anderen Fällen zahlen wir."),
        ("El vuelo está cubierto.", "En los demás casos pagan ustedes."),
        ("Wir liefern in die Schweiz.", "Nicht auf Inseln."),
        ("We are open from 7 to 10.", "Not available on Mondays."),
        ("Many ask whether they can pay in cash.", "Unfortunately, this is not possible."),
        ("Requests are limited.", "Enterprise customers are exempt."),
        ("Returns are free.", "Elsewhere they cost £5."),
        ("Der Versand ist gratis.", "Ins Ausland kostet er 10 €."),
        ("Les retours sont gratuits.", "À l'étranger, ils coûtent 10 €."),
        ("Open the settings.", "Please note: this cannot be undone."),
        ("Room 1 has a bed. Room 2 has a desk.", "Neither has a bath."),
        ("Zimmer 1 ist klein. Zimmer 2 ist groß.", "Keine von beiden hat Bad."),
        ("Alle Waren können zurückgegeben werden.", "Bücher sind ausgenommen."),
    ] {
        assert_eq!(shown(&format!("{first} {second}")).last().unwrap(), &format!("{first} {second}"));
    }
    assert_eq!(shown("## Fumar\n\nPermitido en la terraza."), ["Fumar: Permitido en la terraza."]);
    for alone in [
        "Dogs and other animals must stay outside.",
        "Not covered are glass and mirrors of cars.",
        "Seit Mai können Sie online zahlen.",
    ] {
        assert_eq!(shown(&format!("We are open. {alone}")).last().unwrap(), alone);
    }
}

#[test]
fn what_follows_says_what_is_exempt() {
    assert_eq!(
        shown("**Covered**\n\nFire.\n\n**Excluded**\n\nTheft."),
        ["Covered: Fire.", "Excluded: Theft."]
    );
    assert_eq!(
        shown("Requests are limited. Enterprise customers are exempt.").first().unwrap(),
        "Requests are limited. Enterprise customers are exempt."
    );
    assert_eq!(
        shown("You can bring your dog. Exceptions:\n\n- the pool"),
        ["You can bring your dog. Exceptions: the pool", "You can bring your dog. Exceptions: the pool"]
    );
    let long = "- the pool and the meadow behind the house\n".repeat(5);
    assert_eq!(
        shown(&format!("Bring your dog. Exceptions:\n\n{long}"))[0],
        "Bring your dog. Exceptions: the pool and the meadow behind the house"
    );
    assert_eq!(shown("Fire is covered.\n\nNot covered:\n\n- War").first().unwrap(), "Fire is covered.");
}

#[test]
fn a_sentence_that_promises_what_follows_is_above_it() {
    assert_eq!(
        shown("The following are never refundable.\n\nGift cards. Downloads.").last().unwrap(),
        "The following are never refundable. Downloads."
    );
    assert_eq!(
        shown("> **Note**\n> The following are available in the EU only.\n\n### Invoices\n\nLists them all.")
            .last()
            .unwrap(),
        "Note The following are available in the EU only. Lists them all."
    );
    assert_eq!(
        shown("Pay 50 €, which is not refunded if\n\na) the key is lost."),
        ["Pay 50 €, which is not refunded if: a) the key is lost."]
    );
}

#[test]
fn numbered_parts_are_below_the_part_with_the_shorter_number() {
    assert_eq!(
        shown("5.1 Not insured are:\n\n5.1.1 Damage by war.\n\n5.1.2 Theft.\n\n5.2 We pay for the rest."),
        [
            "5.1 Not insured are: 5.1.1 Damage by war.",
            "5.1 Not insured are: 5.1.2 Theft.",
            "5.2 We pay for the rest."
        ]
    );
    assert_eq!(
        shown("(1) Nicht versichert sind Schäden durch\n\n- Krieg"),
        ["(1) Nicht versichert sind Schäden durch: Krieg"]
    );
}

#[test]
fn short_paragraphs_that_may_be_below_a_limit_are_not_quoted() {
    assert_eq!(
        shown(
            "Not covered if:\n\nThe seal is broken.\n\nA key is lost.\n\nWe repair your device. It takes a week."
        ),
        [
            "Not covered if: The seal is broken.",
            "We repair your device.",
            "We repair your device. It takes a week."
        ]
    );
}

#[test]
fn headings_that_affirm_scope_or_name_code_are_part_of_what_is_below_them() {
    for (heading, text) in [
        ("Eingeschlossen", "Schäden durch Hagel."),
        ("Verbotene Gegenstände", "Messer und Scheren."),
        ("Equipaje permitido en cabina", "Una maleta de 10 kg."),
        ("Gilt für Geschäftskunden", "Es gibt kein Widerrufsrecht."),
        ("Objets interdits", "Les couteaux."),
        ("`strict`", "Rejects unknown keys."),
    ] {
        let shown = shown(&format!("# Page\n\n## {heading}\n\n{text}"));
        assert_eq!(shown, [format!("{}: {text}", heading.trim_matches('`'))]);
    }
}

#[test]
fn a_sentence_about_all_figures_belongs_to_each_of_its_section() {
    assert_eq!(
        shown("# Preise\n\n## Pool\n\n- Tag: 5 €\n\nAlle Preise zzgl. MwSt.\n\n## Sauna\n\n- Tag: 9 €")
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>(),
        ["Pool: Tag: 5 € Alle Preise zzgl. MwSt.", "Alle Preise zzgl. MwSt.", "Sauna: Tag: 9 €"]
    );
    assert_eq!(
        shown("All fees are in USD.\n\n## Card\n\nA card costs 10.\n\nCall us.").get(1..).unwrap(),
        ["A card costs 10. All fees are in USD.", "Call us."]
    );
}

#[test]
fn an_item_that_asks_is_answered_by_the_next() {
    assert_eq!(
        shown("- Q: Is parking free?\n- A: Only on Sundays."),
        ["Q: Is parking free? A: Only on Sundays."]
    );
}

#[test]
fn an_item_that_goes_on_from_the_one_before_has_it() {
    assert_eq!(
        shown("Fee:\n\n- until May: free\n- after that: 50 %").last().unwrap(),
        "Fee: until May: free; after that: 50 %"
    );
}

#[test]
fn a_box_that_warns_belongs_to_the_code_below_it() {
    assert_eq!(
        shown(":::danger Do not use in production\nThe key is stored as text.\n:::\n\n```\nsave(key)\n```")
            .last()
            .unwrap(),
        "Do not use in production: The key is stored as text.\n\nsave(key)"
    );
}

#[test]
fn a_notice_may_be_marked_as_a_note() {
    assert_eq!(
        shown("**Note:** This guide applies to version 2 only.\n\n# Setup\n\nOpen the settings.")
            .last()
            .unwrap(),
        "Note: This guide applies to version 2 only. Open the settings."
    );
}

#[test]
fn an_announcement_about_it_has_the_heading() {
    assert_eq!(
        shown("## Dogs\n\nThey must be on a lead:\n\n- in the yard\n\nThey may run free:\n\n- outside")
            .last()
            .unwrap(),
        "Dogs: They may run free: outside"
    );
}

#[test]
fn a_named_box_below_a_heading_may_be_the_status_of_its_section() {
    assert_eq!(
        shown("<Note>Only available on the Pro plan.</Note>\n\n## SAML\n\nOpen the settings.")
            .last()
            .unwrap(),
        "Only available on the Pro plan. Open the settings."
    );
    assert_eq!(
        shown("## Start\n\n> [!WARNING]\n> Do not close the window.\n\nClick here.").last().unwrap(),
        "Click here."
    );
}

#[test]
fn a_raised_number_that_leads_to_nothing_forbids_to_quote() {
    assert!(html("<p>Free shipping<sup>1</sup></p><p>Ab 5 €<sup>2</sup></p>").is_empty());
    let page = "<p>Free shipping<a href='#a'><sup>1</sup></a></p><ol><li id=a>Above 50 €.</li></ol>";
    assert_eq!(html(page).first().unwrap(), "Free shipping¹ Above 50 €.");
}

#[test]
fn lines_that_say_what_is_covered_hold_up_to_the_next() {
    assert_eq!(
        shown("Nicht versichert\n\nSchäden durch Krieg.\n\nVersichert\n\nSchäden durch Hagel."),
        ["Nicht versichert: Schäden durch Krieg.", "Versichert: Schäden durch Hagel."]
    );
}

#[test]
fn one_of_several_titles_may_limit() {
    assert_eq!(
        shown("# Old prices\n\nPro costs 5 €.\n\n# New prices\n\nPro costs 7 €."),
        ["Old prices: Pro costs 5 €.", "New prices: Pro costs 7 €."]
    );
    assert_eq!(
        shown("# Help\n\n## timeout\n\nThe default is 3.").last().unwrap(),
        "timeout: The default is 3."
    );
}

#[test]
fn a_first_column_that_decides_is_named() {
    assert_eq!(
        shown("| Allowed | Forbidden |\n|---|---|\n| Cats | Dogs |"),
        ["Allowed: Cats – Forbidden: Dogs"]
    );
}

#[test]
fn a_bare_no_is_no_answer() {
    assert_eq!(shown("No. You cannot transfer it."), ["You cannot transfer it."]);
}

#[test]
fn a_sentence_is_not_about_the_rest_of_a_list() {
    assert_eq!(
        shown("# Cover\n\nWe do not cover\n\n- theft\n\nunless we agree.\n\nIt covers glass.")
            .last()
            .unwrap(),
        "Cover: It covers glass."
    );
}

#[test]
fn numbers_that_go_on_below_letters_are_not_below_the_line_above_the_letters() {
    let found = text(
        "Terms\n\n§ 1 Scope\nNot insured are:\na) cars,\nb) cash.\n\n§ 2 Excess\n(1) You pay 150 EUR.\n(2) Not in May.",
    );
    assert!(found.contains(&"Not insured are: b) cash.".to_owned()), "{found:?}");
    assert!(found.iter().all(|text| !text.contains("150") || !text.contains("insured")), "{found:?}");
}

#[test]
fn a_number_that_goes_on_is_outside_a_list_that_began_later() {
    let found = text(
        "Terms\n\n§ 1 Scope\nNot insured are:\na) cars,\nb) cash.\n\n§ 2 Excess\n(1) You pay 150 EUR.\n(2) Not in May.",
    );
    assert!(found.contains(&"Not insured are: b) cash.".to_owned()), "{found:?}");
    assert!(found.iter().all(|text| !text.contains("150") || !text.contains("cash")), "{found:?}");
}

#[test]
fn an_item_may_begin_with_a_figure() {
    assert_eq!(
        text("Members get:\n- free entry\n- 10 % discount\n- a card"),
        ["Members get: free entry", "Members get: 10 % discount", "Members get: a card"]
    );
}

#[test]
fn a_mark_may_stand_apart_at_the_end_of_its_line() {
    let found = text("Lieferung frei 1)\nGarantie zwei Jahre 2)\n\n1) ab 50 EUR\n2) nicht auf Akkus");
    assert!(found[0].ends_with("1) ab 50 EUR 2) nicht auf Akkus"), "{found:?}");
    let found = text("Children pay 15 EUR *\nEntry is free (1).\n\n* Not in May.\n(1) Up to 6 years.");
    assert!(found[0].ends_with("* Not in May. (1) Up to 6 years."), "{found:?}");
    assert_eq!(csv("Tarif,Preis\nS,5 EUR *\nM,9 EUR\n* ab Mai,\n")[0], "S – Preis: 5 EUR * * ab Mai");
}

#[test]
fn asterisks_below_each_other_are_bullets() {
    assert_eq!(
        text("We offer:\n* Free delivery\n* Two years warranty*\n\n* not for batteries"),
        ["We offer: Free delivery", "We offer: Two years warranty* * not for batteries"]
    );
}

#[test]
fn text_between_a_number_and_the_next_belongs_to_the_number() {
    let found = text("1. Scope\nWe deliver hosting.\n2. Not included\nTraining.\n3. Fees\nYou pay monthly.");
    for (number, line) in [("1. Scope", "hosting"), ("2. Not included", "Training"), ("3. Fees", "monthly")] {
        assert!(found.iter().any(|text| text.starts_with(number) && text.contains(line)), "{found:?}");
    }
}

#[test]
fn a_line_left_of_a_list_holds_for_all_its_items() {
    assert_eq!(
        text("You may not:\n  a) sublet;\n  b) rebuild\nunless we agree.")[..2],
        ["You may not: a) sublet; unless we agree.", "You may not: b) rebuild unless we agree."]
    );
}

#[test]
fn the_name_of_a_list_says_nothing_about_the_list_before() {
    assert_eq!(
        html("<p>per day, without insurance</p><ul><li>Van</li></ul><p>per week</p><ul><li>Bus</li></ul>"),
        ["per day, without insurance: Van", "per week: Bus"]
    );
    assert_eq!(shown("We open at 9.\n\nNot allowed:\n\n- Dogs"), ["We open at 9.", "Not allowed: Dogs"]);
}

#[test]
fn a_short_exception_and_its_sentence_have_each_other() {
    for both in [
        "Dogs are not allowed. Exception: assistance dogs.",
        "Kinder zahlen nichts. Ausnahme: Tenniskurse.",
        "Mitglieder parken frei. Nicht jedoch an Spieltagen.",
        "El plazo es de 14 días. No se aplica a rebajas.",
        "La colazione è gratis. Non è inclusa ad agosto.",
    ] {
        assert_eq!(shown(both), [both, both]);
    }
}

#[test]
fn a_pronoun_has_its_noun() {
    for both in [
        "Die Garantie gilt zwei Jahre. Sie endet mit dem Verkauf.",
        "Das Gerät ist wasserdicht. Es ist nicht stoßfest.",
        "Le bail dure 3 ans. Il est renouvelé ensuite.",
        "La fianza es de 800 €. Se devuelve al final.",
        "El abono cuesta 30 €. Incluye la piscina.",
        "La tessera costa 30 €. È valida un anno.",
        "Il parcheggio è gratuito. Non è custodito.",
        "El aparcamiento es gratis. No es vigilado.",
        "L'abbonamento dura un anno. Si rinnova da solo.",
        "De kaart kost 30 €. Het is niet overdraagbaar.",
        "De garantie duurt een jaar. Ze dekt geen accu's.",
        "O passe custa 30 €. Inclui a piscina.",
        "Myth: Transfers cost 2 EUR. Fact: They are free.",
    ] {
        assert_eq!(shown(both).last().unwrap(), both);
    }
    for alone in [
        "Sie erhalten eine Karte, die Sie zeigen.",
        "Il est interdit de fumer.",
        "Es ist verboten zu rauchen.",
        "Het is verboden te roken.",
        "Se prohíbe fumar.",
        "Non è consentito fumare.",
        "Il prezzo è di 5 €.",
        "Er zijn drie tarieven.",
    ] {
        assert_eq!(shown(&format!("Bonjour. {alone}")).last().unwrap(), alone);
    }
    assert_eq!(
        shown("Die Garantie gilt zwei Jahre. Sie gilt nicht für:\n\n- Akkus").last().unwrap(),
        "Die Garantie gilt zwei Jahre. Sie gilt nicht für: Akkus"
    );
    assert_eq!(
        shown("Not covered:\n\nBatteries\n\nThis holds for all.").last().unwrap(),
        "Not covered: Batteries; This holds for all."
    );
    assert!(
        shown("The card costs 40 €. It includes:\n\n- entry\n\nIt ends in May.")
            .last()
            .unwrap()
            .starts_with("The card")
    );
}

#[test]
fn exceptions_in_a_list_belong_to_what_is_above_them() {
    assert_eq!(
        text("We ship to:\n- Germany\n- Austria\n\nExceptions to this rule:\n- plants\n- fish")[0],
        "We ship to: Germany Exceptions to this rule: plants; fish"
    );
    assert!(shown("Students pay half. Ausgenommen sind:\n\n- Kurse")[0].ends_with("Ausgenommen sind: Kurse"));
    assert_eq!(shown("Students pay half.\n\nExceptions:\n\n- May")[0], "Students pay half. Exceptions: May");
}

#[test]
fn a_nested_number_is_in_the_item_above_it() {
    for indent in ["", "    "] {
        let found = text(&format!(
            "(1) All pay.\n(2) Not exempt are\n{indent}1. guests,\n{indent}2. friends.\n(3) It ends in May."
        ));
        assert!(found.iter().any(|text| text.ends_with("(2) Not exempt are: 2. friends.")), "{found:?}");
    }
}

#[test]
fn a_cell_that_repeats_the_one_above_it_is_no_answer() {
    assert_eq!(shown("| A | B |\n|---|---|\n| x | 5 € |\n| y | ″ |\n| z | siehe oben |"), ["x – B: 5 €"]);
}

#[test]
fn lines_with_a_colon_between_rows_name_groups() {
    assert_eq!(
        csv("Not included:,\nBreakfast,12 EUR\nIncluded:,\nWifi,free\n"),
        ["Not included: Breakfast: 12 EUR", "Included: Wifi: free"]
    );
    assert_eq!(
        csv("Country,Price\nGermany,5\nNot delivered to:,\nNorway,\n").last().unwrap(),
        "Not delivered to: Norway – Price: –"
    );
    assert_eq!(csv(";2023;2024\nGewinn;-5;8\n"), ["Gewinn – 2023: -5; 2024: 8"]);
}

/// Lists of any depth with a lead-in, as (depth, word) of each item.

#[test]
fn a_heading_that_excludes_what_its_list_names_says_nothing_about_later_sentences() {
    for heading in
        ["## Ne sont pas admis", "## Not included", "## Verboten sind", "**Nicht im Preis enthalten**"]
    {
        let found = shown(&format!("# Camp\n\n{heading}\n\n- barbecues\n- towels\n\nGas stoves are fine.\n"));
        let name = heading.trim_matches(['#', '*', ' ']);
        assert!(found.contains(&format!("{name}: barbecues")), "{found:#?}");
        assert!(found.contains(&"Gas stoves are fine.".to_owned()), "{found:#?}");
    }
    let table = shown(
        "# Gym\n\n## Not included\n\n| Item | Price |\n|---|---|\n| Towel | 5 € |\n\nShowers are fine.\n",
    );
    assert!(table.contains(&"Showers are fine.".to_owned()), "{table:#?}");
    let deprecated = shown("# API\n\n## Deprecated\n\n- X-Key\n\nUse the header X-Token.\n");
    assert!(deprecated.contains(&"Deprecated: Use the header X-Token.".to_owned()), "{deprecated:#?}");
    let direct = shown("# Policy\n\n## Not covered\n\nTheft from cars.\n");
    assert!(direct.contains(&"Not covered: Theft from cars.".to_owned()), "{direct:#?}");
}

#[test]
fn a_sentence_about_all_others_has_the_list_that_names_the_first() {
    assert_eq!(
        shown("You cannot work from home as:\n\n- Driver\n- Cook\n\nAll others may work from home.\n")
            .last()
            .unwrap(),
        "You cannot work from home as: Driver; Cook; All others may work from home."
    );
    let long = "- A long name of a long thing that is a reason of its own and says so\n".repeat(4);
    let found = shown(&format!("Not refunded if:\n\n{long}\nIn that case we call you.\n"));
    assert!(!found.iter().any(|shown| shown.contains("In that case")), "{found:#?}");
}

#[test]
fn a_line_between_symbols_is_no_condition() {
    assert_eq!(
        text("**Not covered:**\n- Theft\n- War\n"),
        ["**Not covered:** Theft", "**Not covered:** War"]
    );
    assert_eq!(text("Refunds\n\n*Not refundable:*\n- Gift cards\n"), ["*Not refundable:* Gift cards"]);
    assert_eq!(
        text("**Can I return sale items?**\n\nNo, never.\n"),
        ["**Can I return sale items?** No, never."]
    );
}

#[test]
fn a_line_that_announces_what_is_below_it_is_no_exception_above_it() {
    let found = shown("Good:\n\n```\na\n```\n\nNever do this:\n\n```\nb\n```\n");
    assert_eq!(found, ["Good:\n\na", "Never do this:\n\nb"]);
    let found = shown("Allowed:\n\n- Dogs\n\nNot allowed:\n\nCats\n");
    assert_eq!(found.first().unwrap(), "Allowed: Dogs");
}

#[test]
fn a_last_row_over_all_columns_belongs_to_each_row() {
    let row = "Pro – Price: 9; Users: 5 Only for students";
    let page = |last: &str| {
        format!(
            "<table><tr><th>Plan</th><th>Price</th><th>Users</th></tr><tr><td>Pro</td><td>9</td><td>5</td></tr>{last}</table>"
        )
    };
    assert_eq!(html(&page("<tr><td colspan=3>Only for students</td></tr>")), [row]);
    assert_eq!(html(&page("<tfoot><tr><th colspan=3>Only for students</th></tr></tfoot>")), [row]);
    assert_eq!(csv("Plan,Price,Users\nPro,9,5\nOnly for students,,\n"), [row]);
}

#[test]
fn a_question_is_above_its_answer_however_it_is_written() {
    assert_eq!(shown("> Can I smoke?\n\nNo, never.\n"), ["Can I smoke? No, never."]);
    assert_eq!(
        shown("Q1. Can I pay later?\n\nA1. Yes, in May.\n"),
        ["Q1. Can I pay later? A1. Yes, in May."]
    );
    assert_eq!(
        shown("I lost my key. What now?\n\nCall us at once.\n").last().unwrap(),
        "I lost my key. What now? Call us at once."
    );
}

#[test]
fn what_is_inside_an_open_box_is_no_feature() {
    assert!(shown("- [ ] Single sign-on\n\n  Works with SAML.\n\n  - Works with LDAP\n").is_empty());
}

#[test]
fn steps_have_the_sentence_or_box_right_above_them() {
    let steps = "1. Open the valve.\n2. Close the valve.\n";
    assert_eq!(
        shown(&format!("# Boiler\n\n## Bleeding\n\nDo this only once.\n\n{steps}")).get(1).unwrap(),
        "Do this only once. 1. Open the valve."
    );
    assert_eq!(
        html("<h1>A</h1><h2>B</h2><div class=\"warning\">Switch it off. It can burn you.</div><ol><li>Open it.</li></ol>")
            .last()
            .unwrap(),
        "Switch it off. It can burn you. 1. Open it."
    );
}

#[test]
fn a_sentence_without_a_subject_has_the_one_before() {
    for (before, after) in [
        ("Se prestan 6 libros.", "Se pueden renovar dos veces."),
        ("El Turbo es para varias bandejas.", "No es adecuado para bizcochos."),
        ("El curso dura un mes.", "No se ofrece en verano."),
        ("Los alumnos pagan la matrícula.", "Los antiguos, sin embargo, no la pagan."),
        ("Los libros están incluidos.", "Los diccionarios no lo están."),
        ("Si llueve, devolvemos el dinero.", "En caso de viento, no."),
        ("Die Kasse zahlt eine Schiene.", "Bei Verlust gilt das nicht."),
        ("Von 13 bis 15 Uhr ist Ruhe.", "In diesen Zeiten ist das Fahren verboten."),
        ("We quote for each job.", "During this time prices do not change."),
    ] {
        let found = shown(&format!("{before} {after}\n"));
        assert_eq!(found.last().unwrap(), &format!("{before} {after}"));
    }
}

#[test]
fn a_sentence_that_names_an_exception_has_the_rule() {
    for (rule, exception) in [
        ("All common cards are accepted.", "American Express is an exception."),
        ("Das Personal gibt keine Medikamente.", "Eine Ausnahme sind Notfallmittel mit Anweisung."),
        ("Se devuelve el dinero.", "La tarifa Oferta es una excepción."),
        ("El Tornado es apto a partir de 1,40 m.", "No es apto para embarazadas."),
    ] {
        let whole = format!("{rule} {exception}");
        assert_eq!(shown(&format!("{whole}\n")), [whole.clone(), whole]);
    }
}

#[test]
fn a_raised_number_in_brackets_is_a_mark() {
    let found = html(
        "<h2>Delivery</h2><p>Delivery is free<sup>(1)</sup>.</p><h2>Excluded</h2><ul><li>Cards</li></ul>\
         <p><sup>(1)</sup> Not to Corsica.</p>",
    );
    assert_eq!(found.first().unwrap(), "Delivery is free⁽¹⁾. ⁽¹⁾ Not to Corsica.");
    assert!(!found.iter().any(|shown| shown.starts_with("Excluded: ⁽¹⁾")), "{found:#?}");
}

#[test]
fn a_box_at_the_top_that_says_what_no_longer_holds_is_a_notice() {
    let found = shown(
        "> These terms are about the season of 2022. They are no longer valid.\n\n# Rental\n\nSkis cost 9 €.\n",
    );
    assert!(found.last().unwrap().contains("They are no longer valid. Skis cost 9 €."), "{found:#?}");
    let found = shown("# Rental\n\n:::warning Outdated\nAsk us first.\n:::\n\nSkis cost 9 €.\n");
    assert_eq!(found.last().unwrap(), "Outdated: Skis cost 9 €.");
    let found = shown("# Rental\n\n> You see the prices of an old version.\n\nSkis cost 9 €.\n");
    assert!(found.last().unwrap().ends_with("old version. Skis cost 9 €."), "{found:#?}");
}

#[test]
fn a_bold_row_like_the_name_of_the_group_ends_the_group() {
    let found = shown(
        "| | Full | Half |\n|---|---|---|\n| **Juniors** | | |\n| Boats | 9 | 5 |\n| **Locker** | 4 | 2 |\n",
    );
    assert_eq!(found, ["Juniors: Boats – Full: 9; Half: 5", "Locker – Full: 4; Half: 2"]);
}

#[test]
fn a_first_row_without_a_label_is_no_answer() {
    assert!(shown("| Plan | Paid | Price |\n|---|---|---|\n| | yearly | 50 € |\n").is_empty());
}

#[test]
fn a_number_in_brackets_leads_to_the_only_paragraph_with_it() {
    let found =
        shown("## Stay\n\nYou leave at noon (1).\n\n(1) Cabins: at ten.\n\n## Prices\n\nThe price is 9 €.\n");
    assert_eq!(found.first().unwrap(), "You leave at noon (1). (1) Cabins: at ten.");
    let contract = "## § 1\n\n(1) You pay.\n\n## § 2\n\n(1) We work as in § 1 (1).\n\n## § 3\n\nThe end.\n";
    assert!(shown(contract).contains(&"(1) We work as in § 1 (1).".to_owned()), "{:#?}", shown(contract));
    assert_eq!(
        shown("Open from ten to seven **.\n\n** In May from noon.\n").first().unwrap(),
        "Open from ten to seven **. ** In May from noon."
    );
}

#[test]
fn german_sie_is_the_reader_only_in_a_text_that_says_so() {
    assert_eq!(
        shown("Hunde sind willkommen. Sie dürfen nicht in den Saal.\n").last().unwrap(),
        "Hunde sind willkommen. Sie dürfen nicht in den Saal."
    );
    let formal = shown("Hunde sind willkommen. Sie dürfen bar zahlen.\n\nBitte rufen Sie uns an.\n");
    assert!(formal.contains(&"Sie dürfen bar zahlen.".to_owned()), "{formal:#?}");
}

#[test]
fn a_sentence_that_sends_its_reader_elsewhere_is_no_answer() {
    for pointer in
        ["For more, see [Refunds](r).", "See also: [Refunds](r), [Cancel](c)", "Siehe [Preise](p)."]
    {
        assert!(shown(&format!("{pointer}\n")).is_empty(), "{pointer}");
    }
    for answer in
        ["You pay with [PayPal](p).", "Our address is [a@b.org](mailto:a@b.org).", "See the sea in May."]
    {
        assert_eq!(shown(&format!("{answer}\n")).len(), 1, "{answer}");
    }
}

fn nested() -> impl Strategy<Value = (bool, Vec<(usize, String)>)> {
    (any::<bool>(), prop::collection::vec((0..4_usize, "[a-z]{3,8}"), 1..12))
}

fn header_rows(blocks: &[Block]) -> Vec<Range<usize>> {
    let of_block = |block: &Block| match block.kind {
        BlockKind::Row { is_header: true } => vec![block.range.clone()],
        _ => header_rows(&block.children),
    };
    blocks.iter().flat_map(of_block).collect()
}

proptest! {
    #[test]
    fn every_item_has_each_line_above_it((has_colon, items) in nested()) {
        let lead_in = if has_colon { "The following is not covered:" } else { "The following is not covered" };
        let mut markdown = format!("{lead_in}\n\n");
        let mut path: Vec<String> = Vec::new();
        let mut expected = Vec::new();
        for (number, (depth, word)) in items.iter().enumerate() {
            let depth = (*depth).min(path.len());
            path.truncate(depth);
            let item = format!("{word}{number}");
            markdown.push_str(&format!("{}- {item}\n", "  ".repeat(depth)));
            expected.push((item.clone(), path.clone()));
            path.push(item);
        }
        let document = read(&markdown);
        let found = statements(&document);
        for (item, above) in expected {
            let statement = found.iter().find(|statement| document.slice(&statement.range) == item).unwrap();
            let chain: Vec<&str> = statement.chain.iter().map(|link| document.slice(&link.range)).collect();
            let mut lines = vec![lead_in];
            lines.extend(above.iter().map(String::as_str));
            prop_assert_eq!(chain, lines);
        }
    }

    #[test]
    fn statements_are_disjoint_and_chains_are_ranges(
        markdown in "(?s)([#\\-*|`~> \n.!?:a-zé字\\[\\]()<br>0-9]{0,12}){0,14}",
    ) {
        let Ok(document) = crate::document(markdown.as_bytes(), Format::Markdown) else { return Ok(()) };
        let mut end = 0;
        for statement in statements(&document) {
            prop_assert!(statement.range.start >= end && statement.range.start < statement.range.end);
            end = statement.range.end;
            prop_assert_eq!(document.slice(&statement.range), document.slice(&statement.range).trim_matches('\n'));
            for link in &statement.chain {
                prop_assert!(document.text.get(link.range.clone()).is_some_and(|text| !text.trim().is_empty()));
            }
        }
    }

    #[test]
    fn every_letter_is_in_a_statement_a_chain_or_a_heading(
        markdown in "([#\\-*|> \n.!?:a-zA-Z0-9]{0,12}\n{0,2}){0,14}",
    ) {
        let Ok(document) = crate::document(markdown.as_bytes(), Format::Markdown) else { return Ok(()) };
        let mut seen = vec![false; document.text.len()];
        let found = statements(&document);
        let links = found.iter().flat_map(|statement| &statement.chain).map(|link| link.range.clone());
        let headings = document.blocks.iter().filter(|block| matches!(block.kind, BlockKind::Heading { .. })).map(|block| block.range.clone());
        let own = found.iter().map(|statement| statement.range.clone());
        // The name of the first column is not shown: the cell below it is what the row is about.
        let names = header_rows(&document.blocks);
        for range in own.chain(links).chain(headings).chain(names) {
            seen[range].fill(true);
        }
        // The number of an item without content.
        let unseen: String = document.text.char_indices().filter(|(at, c)| !seen[*at] && c.is_alphanumeric()).map(|(_, c)| c).collect();
        prop_assert!(unseen.chars().all(|c| c.is_ascii_digit()), "{unseen} in {:?}", document.text);
    }
}
