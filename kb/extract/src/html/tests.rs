use super::*;
use crate::document::{BlockKind, Document};

fn page(html: &str) -> Document {
    document(html).unwrap()
}

/// The headings above each section, and its id.
fn sections(page: &Document) -> Vec<(Vec<String>, Option<String>)> {
    let mut path: Vec<(u8, String)> = Vec::new();
    let mut sections = Vec::new();
    for block in &page.blocks {
        if let BlockKind::Heading { level } = block.kind {
            path.retain(|(above, _)| *above < level);
            path.push((level, page.slice(&block.range).to_owned()));
        } else {
            let path = path.iter().map(|(_, text)| text.clone()).filter(|text| !text.is_empty()).collect();
            let anchor = page.place(block.range.start).and_then(|place| place.anchor.clone());
            sections.push((path, anchor));
        }
    }
    sections.dedup();
    sections
}

fn text(document: &str) -> String {
    page(document).text
}

#[test]
fn properties_are_read_from_the_head() {
    let document = "<!doctype html><html lang=de-AT><head><title> Rück&shy;gaben &amp;\n mehr </title>\
        <link rel='nofollow canonical' href=https://example.org/r><meta property=og:url content=https://other.example>\
        <body><svg><title>logo</title></svg><h1>Heading</h1><p>Text";
    let properties = page(document).properties;
    assert_eq!(properties.title.as_deref(), Some("Rückgaben & mehr"));
    assert_eq!(properties.url.as_deref(), Some("https://example.org/r"));
    assert_eq!(properties.language.as_deref(), Some("de-at"));
    let properties = page("<meta property=og:title content=T><link rel=canonical href=/r><p>Text").properties;
    assert_eq!((properties.title.as_deref(), properties.url), (Some("T"), None));
    assert_eq!(page("<h1>Only <i>this</i> ¶</h1><p>Text").properties.title.as_deref(), Some("Only this"));
}

#[test]
fn a_page_names_its_audience_in_its_head() {
    let read =
        |meta: &str| super::document(&format!("<head>{meta}</head><p>The director earns 90,000 euros."));
    let audience = |meta| read(meta).map(|page| page.properties.audience);
    let declared = Ok(Some(vec!["team:hr".to_owned(), "team:ceo".to_owned()]));
    assert_eq!(audience("<META NAME='Evidence-Chat:Audience' content='team:hr, team: ceo'>"), declared);
    assert_eq!(audience("<meta name=audience content='team:hr,team:ceo'>"), declared);
    assert_eq!(audience("<meta name=audience content=all>"), Ok(None));
    for unclear in [
        "<meta name='evidence-chat:audience' content=hr>",
        "<meta name='evidence-chat:audience' content=''>",
        "<meta name=audience content='email:a@example.com'>",
        "<meta name=audience content='team:hr'><meta name=audience content='team:all'>",
    ] {
        assert!(matches!(audience(unclear), Err(ExtractError::Audience(_))), "{unclear}");
    }
}

#[test]
fn a_page_that_asks_not_to_be_indexed_is_not_published() {
    let read = |meta: &str| super::document(&format!("<head>{meta}</head><p>Prices rise by 20 %."));
    for meta in [
        "<meta name=robots content=noindex>",
        "<meta NAME=Robots CONTENT='nofollow, NoIndex'>",
        "<meta name=EvidenceChatBot content=none>",
    ] {
        assert!(matches!(read(meta), Err(ExtractError::NotPublished(_))), "{meta}");
    }
    for meta in ["<meta name=robots content='index, nofollow'>", "<meta name=otherbot content=noindex>"] {
        assert!(read(meta).is_ok(), "{meta}");
    }
}

#[test]
fn a_page_that_leads_elsewhere_at_once_is_none() {
    let read = |meta: &str| super::document(&format!("<head>{meta}</head><p>One moment."));
    for (meta, to) in [
        ("<meta http-equiv=refresh content='0; url=/login'>", "/login"),
        ("<META HTTP-EQUIV='Refresh' CONTENT=\"3;URL='https://h/a?b=c'\">", "https://h/a?b=c"),
    ] {
        assert_eq!(read(meta), Err(ExtractError::Redirect(to.to_owned())));
    }
    for meta in [
        "<meta http-equiv=refresh content=300>",
        "<meta http-equiv=refresh content='1800; url=/session-is-over'>",
        "<noscript><meta http-equiv=refresh content='0; url=/without-scripts'></noscript>",
        "<meta name=refresh content='0; url=/login'>",
    ] {
        assert!(read(meta).is_ok(), "{meta}");
    }
}

#[test]
fn only_the_content_is_kept() {
    let document = "<body><header>Top</header><nav>Menu</nav><div role=banner>Ad</div><p>Kept.<script>x()</script>\
        <style>p{}</style><template>t</template><noscript>n</noscript><p hidden>h<p style='DISPLAY : none'>d\
        <p aria-hidden=true>a</p><form>Name: <input value=v><button>Send</button></form><article><header>Kept too.\
        </header></article><!-- c --><aside>More</aside><footer>Imprint</footer>";
    assert_eq!(text(document), "Kept.\n\nName:\n\nKept too.");
    assert_eq!(
        text(
            "<p>Around</p><main><nav>n</nav><div role=navigation>n</div><aside>Note.</aside><p>Main.</main>"
        ),
        "Note.\n\nMain."
    );
    assert_eq!(text("<p>Around<article>One article.</article>"), "One article.");
    assert_eq!(text("<p>Around</p><article>One.</article><article>Two.</article>"), "Around\n\nOne.\n\nTwo.");
    assert_eq!(text("<p>Everything</p><main><script>app()</script></main>"), "Everything");
}

#[test]
fn elements_hidden_by_inline_style_are_not_read() {
    for style in [
        "DISPLAY : none",
        "display:none !important",
        "visibility:hidden",
        "visibility: collapse",
        "opacity:0",
        "opacity: 0.0%",
        "font-size:0",
        "font-size: 0px",
        "position:absolute; left:-9999px",
        "position:fixed;top: -100em",
        "position: absolute; left: -200vw",
        "text-indent:-999em",
        "margin-left:-10000px",
        "clip:rect(0,0,0,0)",
        "clip: rect(1px, 1px, 1px, 1px)",
        "clip-path:inset(50%)",
        "clip-path: inset(100% 100%)",
        "clip-path:circle(0)",
        "height:0;overflow:hidden",
        "width:1px; height:1px; overflow:hidden",
        "color:#fff;background:#fff",
        "color: white; background-color: white",
    ] {
        assert_eq!(text(&format!("<p>A<p style='{style}'>hidden <b>too</b></p><p>B")), "A\n\nB", "{style}");
    }
    for style in [
        "display:block",
        "opacity:0.01",
        "opacity:.5",
        "font-size:0.8em",
        "left:-9999px",
        "position:absolute;left:-20px",
        "text-indent:-2em",
        "transform:translate(-50%,-50%)",
        "transform:scale(0.5)",
        "clip:rect(0,100px,100px,0)",
        "clip:rect(auto,auto,auto,auto)",
        "clip-path:inset(10%)",
        "height:0",
        "overflow:hidden",
        "color:#fff;background:#000",
        "color:inherit",
        "opacity",
        "",
    ] {
        assert_eq!(text(&format!("<p>A<p style='{style}'>shown</p><p>B")), "A\n\nshown\n\nB", "{style}");
    }
    let gaps =
        "<div style='font-size:0'><p style='font-size:16px'>One</p><p style='font-size:1rem'>Two</p></div>";
    assert_eq!(text(gaps), "One\n\nTwo");
}

#[test]
fn elements_hidden_by_style_elements_are_not_read() {
    let with = |css: &str| text(&format!("<style>{css}</style><p>A<p class='a x' id=b>part</p><p>B"));
    for css in [
        ".x{display:none}",
        ".x { color: red; DISPLAY: None !important }",
        "#b{visibility:hidden}",
        "p.x{display:none}",
        "body > p.x, .z {display:none}",
        ".other{}/* {} */ .x/* { */{display:none}",
        "@import 'a.css'; .x{display:none}",
        "@media print{.x{display:block}} .x{display:none}",
        ".z::after{content:'}'} .x{display:none}",
        ".x{display:none} .z{display:block}",
        ".x{display:none",
        "@media screen and (min-width: 1px){.z{display:block}} .x{display:none}",
    ] {
        assert_eq!(with(css), "A\n\nB", "{css}");
    }
    // Toggled while the page is used, in one medium only, or not supported.
    for css in [
        ".x{display:none} .x.open{display:block}",
        ".x{display:none} .open .x{display:block}",
        ".x{display:none} #b:target{display:block}",
        ".x{display:none} @media (min-width: 1px){.a{display:flex}}",
        ".x{display:none; &.open{display:block}}",
        "@media print{.x{display:none}}",
        "@media (max-width: 9px){.x{display:none}}",
        ".z .x{display:none}",
        ".x:not(.open){display:none}",
        ".x[hidden]{display:none}",
        "p{display:none}",
        ".x{color:red}",
        "}} .y{display:none}",
        "",
    ] {
        assert_eq!(with(css), "A\n\npart\n\nB", "{css}");
    }
    assert_eq!(
        text("<style>.x{display:none}</style><p class=x style='display:block'>shown<p class=x>hidden"),
        "shown"
    );
    for around in ["<noscript><style>", "<template><style>", "<style media=print>"] {
        assert_eq!(
            text(&format!("{around}.x{{display:none}}</style></noscript></template><p class=x>A")),
            "A"
        );
    }
    assert_eq!(text("<style>.x{display:none}</style><main class=x>hidden</main><p>A"), "A");
}

#[test]
fn very_large_style_is_read_quickly() {
    for css in [
        "{".repeat(200_000),
        "@media x{".repeat(100_000),
        ".x{display:none}".repeat(50_000),
        "/*".repeat(100_000),
        ".a ".repeat(100_000) + "{display:none}",
        "\"".repeat(100_001),
    ] {
        assert!(text(&format!("<style>{css}</style><p class='x a'>x<p>A")).ends_with('A'));
    }
}

#[test]
fn white_space_is_collapsed_as_in_a_browser() {
    let document =
        "<p>Un<b>break</b>able  <i> and\n\n</i> one&nbsp;line<br>\n two<br><br>three<p>A<span> </span>B";
    assert_eq!(text(document), "Unbreakable and one line\ntwo\n\nthree\n\nA B");
    assert_eq!(text("<p>&lt;b&gt; &#8211; &eacute;&unknown;"), "<b> – é&unknown;");
}

#[test]
fn headings_lists_and_definitions_keep_their_structure() {
    let page = page(
        "<h1>A</h1><p>Intro<h2>B</h2><ul><li>one<li><p>two</p><ol start=3><li>x<li value=7>y</ol></ul>\
        <dl><dt>Term<dt>Word:</dt><dd>Meaning.<dd>Other.<dt>Alone</dl>\
        <blockquote><p>Said</p></blockquote>",
    );
    assert_eq!(
        page.text,
        "A\n\nIntro\n\nB\n\n- one\n- two\n  3. x\n  7. y\n\nTerm, Word:\n\nMeaning.\n\nOther.\n\nAlone\n\nSaid"
    );
    assert_eq!(sections(&page)[1].0, ["A", "B"]);
}

#[test]
fn code_keeps_its_lines() {
    assert_eq!(text("<p>Run<pre><code>\nif x:\n  <b>y</b>\n\n  z</code></pre>"), "Run\n\nif x:\n  y\n\n  z");
    assert_eq!(text("<pre>a ``` b\n```\n</pre>"), "a ``` b\n```");
}

#[test]
fn tables_have_rows_and_a_header() {
    let document = "<table><caption>Plans</caption><thead><tr><th>Plan<th>Price<tbody><tr><td>Basic<td><p>5 €</p><p>net</p>\
        <tr><td rowspan=2>Pro<td>9 €<tr><td>99 € a year</table>";
    assert_eq!(text(document), "Plans\n\nPlan\tPrice\nBasic\t5 €\nnet\nPro\t9 €\nPro\t99 € a year");
    assert_eq!(
        text("<table><tr><th>Height<td>2 m<tr><th>Weight<td colspan=2>5 kg</table>"),
        "Height\t2 m\t\nWeight\t5 kg\t"
    );
    let layout = "<table><tr><td><h1>Title</h1><p>Text.</p><td><table><tr><td>a<td>b</table></table>";
    assert_eq!(text(layout), "Title\n\nText.\n\na\tb");
}

#[test]
fn declared_encodings_are_found() {
    let name = |bytes: &[u8]| declared_encoding(bytes).map(Encoding::name);
    assert_eq!(name(b"<meta charset=\"iso-8859-2\">"), Some("ISO-8859-2"));
    assert_eq!(name(b"<META http-equiv=x content='text/html; CharSet = Shift_JIS'>"), Some("Shift_JIS"));
    assert_eq!(name(b"<?xml version='1.0' encoding='koi8-r'?>"), Some("KOI8-R"));
    assert_eq!(name(b"<meta charset=utf-16>"), Some("UTF-8"));
    assert_eq!((name(b"<p>"), name(b"<meta charset=nonsense>")), (None, None));
}

#[test]
fn very_deeply_nested_elements_are_read() {
    for element in ["div", "b", "ul><li", "table><tr><td", "blockquote", "span"] {
        let open = format!("<{element}>").repeat(600);
        assert!(text(&format!("<p>Before</p>{open}deep")).contains("deep"), "{element}");
    }
}

#[test]
fn pages_without_text_are_empty() {
    for document in ["<p> </p>", "<script>x</script>", "<img src=a alt=''>", "<p><s>x</s>", "&nbsp;"] {
        assert_eq!(super::document(document).unwrap_err(), ExtractError::Empty, "{document}");
    }
}

#[test]
fn sections_have_the_ids_of_their_headings() {
    let page = page(
        "<h1>A</h1><p>One.<h2 id=b>B</h2><p>Two.<h3>C</h3><p>Three.<h3><a name='d-d'>D</a> <a id=x>¶</a></h3><p>Four.\
        <section id=é><h2>E</h2><p>Five.</section><section id=f><p>Six.<h2>G</h2><p>Seven.</section>\
        <h2 id='h h'>H</h2><p>Eight.<h2 id=i:~:text=x>I</h2><p>Nine.<h2 id=''>J</h2><p>Ten.",
    );
    let sections = sections(&page);
    let anchors: Vec<_> = sections
        .iter()
        .filter_map(|(headings, anchor)| Some((headings.last()?.as_str(), anchor.as_deref())))
        .collect();
    let expected = [
        ("A", None),
        ("B", Some("b")),
        ("C", Some("b")),
        ("D", Some("d-d")),
        ("E", Some("é")),
        ("A", None),
        ("G", None),
        ("H", None),
        ("I", None),
        ("J", None),
    ];
    assert_eq!(anchors, expected);
}

#[test]
fn markup_between_words_separates_them_where_a_browser_does() {
    for (html, expected) in [
        ("5<br>10 €", "5\n10 €"),
        ("5<hr>10 €", "5\n\n10 €"),
        ("5<p>10 €", "5\n\n10 €"),
        ("5<ul><li>10 €</ul>", "5\n\n- 10 €"),
        ("5<span style='display:block'>10 €</span>7", "5 10 € 7"),
        ("5<b>10</b> €", "510 €"),
        ("5<wbr>10 €", "510 €"),
        ("5<img>10 €", "5 \u{fffd} 10 €"),
        ("5<input>10 €", "5 \u{fffd} 10 €"),
        ("5<svg><text>x</text></svg>10 €", "5 10 €"),
        ("5<select><option>x</select>10 €", "5 \u{fffd} 10 €"),
        ("5<script>x</script>10 €", "510 €"),
        ("5<span hidden>x</span>10 €", "510 €"),
        ("5<del>7</del>10 €", "5 10 €"),
        ("5<del>7</del>.", "5."),
        ("<table><tr><td>S<br>M<td>5<br>10 €</table>", "S\nM\t5\n10 €"),
        ("<table><tr><td>5<ul><li>10<li>20</ul>30<td>5<dl><dt>1<dd>2</dl></table>", "5\n10\n20\n30\t5\n1\n2"),
        ("<table><tr><td>5<div>10</div>20<td>5<pre>10</pre>20</table>", "5\n10\n20\t5\n10\n20"),
        ("<h2>5<br>10 €</h2>x", "5 10 €\n\nx"),
    ] {
        assert_eq!(text(html), expected, "{html}");
    }
}

#[test]
fn only_inline_elements_join_the_text_around_them() {
    let inline = "a abbr acronym b bdi bdo big cite code data dfn em font i ins kbd label mark nobr output q samp small span strong \
        time tt u var x-custom";
    for name in inline.split_whitespace() {
        let text = text(&format!("<p>5<{name}>7</{name}>9</p>")).replace(['“', '”'], "");
        assert_eq!(text, "579", "{name}");
    }
    let apart = "address article aside blockquote button center dd del details dialog dir div dl dt fieldset figcaption \
        figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr iframe img input legend li listing main menu meter nav object ol p pre \
        progress s search section select strike sub summary sup svg textarea ul video xmp br";
    for name in apart.split_whitespace() {
        let inner = if ["hr", "img", "input", "br"].contains(&name) { "" } else { "7" };
        let part = format!("5<{name}>{inner}</{name}>9");
        for page in [format!("<main>{part}"), format!("<main><table><tr><td>{part}</table>")] {
            let text = text(&page);
            let is_joined = ["57", "79", "59"].iter().any(|joined| text.contains(joined));
            assert!(!is_joined, "{name}: {text}");
        }
    }
}

#[test]
fn raised_and_lowered_text_does_not_join_numbers() {
    for (html, expected) in [
        ("The limit is 5<sup>1</sup> GB.", "The limit is 5¹ GB."),
        ("At most 10<sup>6</sup> rows of H<sub>2</sub>O.", "At most 10⁶ rows of H₂O."),
        ("5<sup><a href=#n>1</a></sup> GB", "5¹ GB"),
        ("5<sup>[1]</sup>0 GB", "5 [1] 0 GB"),
        ("on the 1<sup>st</sup> of May", "on the 1st of May"),
        ("2<sup>1</sup>/<sub>2</sub> spoons", "2 1/2 spoons"),
        ("5<span style='vertical-align: super'>1</span> GB", "5¹ GB"),
        ("<style>.c1{vertical-align:sub}</style>CO<span class=c1>2</span>", "CO₂"),
        ("<p style='vertical-align:super'>Text</p>", "Text"),
        ("5<sup><p>1</p></sup>0", "5\n\n1\n\n0"),
        ("<table><tr><td>5<sup>1</sup> GB<td>10<sup>6", "5¹ GB\t10⁶"),
        ("<pre>5<sup>1</sup> GB</pre>", "5¹ GB"),
        ("5<sup>1<sup>2</sup></sup>0", "5 1² 0"),
        ("5<sup>1", "5¹"),
    ] {
        assert_eq!(text(html), expected, "{html}");
    }
}

#[test]
fn formulas_keep_their_meaning() {
    for (formula, expected) in [
        ("<mfrac><mn>1</mn><mn>2</mn></mfrac>", "\u{fffd} 12"),
        ("<msup><mn>10</mn><mn>6</mn></msup>", "10⁶"),
        ("<msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup>", "x₁²"),
        ("<msup><mn>2</mn><mi>k</mi></msup>", "2^k"),
        ("<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr></mtable>", "\u{fffd} 1 2"),
        ("<semantics><mn>1</mn><annotation>\\one</annotation></semantics>", "1"),
    ] {
        assert_eq!(
            text(&format!("<p>It is <math>{formula}</math>.")),
            format!("It is {expected}."),
            "{formula}"
        );
    }
}

#[test]
fn struck_text_is_left_out_and_noted() {
    for html in [
        "Scones cost <s>4 euros</s> 6 euros",
        "Scones cost <del>4 euros</del> 6 euros",
        "Scones cost <strike>4 <b>euros</b></strike> 6 euros",
        "Scones cost <span style='text-decoration: red line-through'>4 euros</span> 6 euros",
        "Scones cost <span style='TEXT-DECORATION-LINE:line-through'>4 euros</span> 6 euros",
        "<style>.old{text-decoration:line-through}</style>Scones cost <i class=old>4 euros</i> 6 euros",
    ] {
        let page = page(html);
        assert_eq!(page.text, "Scones cost 6 euros", "{html}");
        assert_eq!(page.notes, ["left out 1 passage of struck-through text"], "{html}");
    }
    for html in [
        "A <ins>b</ins> <u>c</u>",
        "A <span style='text-decoration:underline'>b</span> c",
        "<style>.x{text-decoration:line-through}.x.open{text-decoration:none}</style>A <i class=x>b</i> c",
    ] {
        let page = page(html);
        assert_eq!((page.text.as_str(), page.notes.len()), ("A b c", 0), "{html}");
    }
    let heading = page("<h2>Dogs</h2><p>Welcome.<h2><s>Cats</s></h2><p>No more.");
    assert_eq!(sections(&heading)[1].0, Vec::<String>::new());
}

#[test]
fn text_that_a_style_hides_in_the_main_part_is_noted() {
    let page = page(
        "<div style='display:none'>menu</div><main><p>A<p style='display:none'>hidden<p style='opacity:0'><b>too</b>\
        <p style='display:none'> <p hidden>attribute</p><nav style='display:none'>menu</nav></main>",
    );
    assert_eq!(
        (page.text.as_str(), page.notes),
        ("A", vec!["left out 2 passages of hidden text".to_owned()])
    );
}

#[test]
fn pictures_are_their_alternative_text() {
    for (html, expected) in [
        ("<table><tr><td>Parking<td><img alt='not included'></table>", "Parking\tnot included"),
        ("Press <img src=x alt=Enter>now", "Press Enter now"),
        ("<picture><source srcset=x><img alt='The map'></picture>", "The map"),
        ("A<img alt=''>B<img alt=' '>C<img>D", "A B \u{fffd} C \u{fffd} D"),
        ("A <img alt=IMG_1234.JPG> B", "A \u{fffd} B"),
        ("<td>Pool <svg role=img aria-label=yes><path></svg>", "Pool yes"),
        ("Pool <svg role=img><title>yes</title></svg>", "Pool yes"),
        ("Pool <svg><title>icon</title></svg> open", "Pool open"),
        ("Sauna <i class=icon role=img aria-label=no></i>", "Sauna no"),
        ("<span role=img aria-label=rocket>🚀</span> Fast", "🚀 Fast"),
        ("A <img hidden alt=x> <img alt=y aria-hidden=true> B", "A B"),
        ("<nav><img alt=Logo></nav>A", "A"),
    ] {
        assert_eq!(text(html), expected, "{html}");
    }
}

#[test]
fn questions_of_accordions_are_text() {
    for button in [
        "<h2><button class=accordion-button>Can I return sandals?</button></h2>",
        "<h2><button aria-expanded=false aria-controls=b><span>Can I return</span> sandals?</button></h2>",
        "<div role=heading aria-level=2><button aria-expanded=false>Can I return sandals?</button></div>",
    ] {
        let page = page(&format!(
            "<h1>FAQ</h1><h2>Shoes?</h2><p>No.</p>{button}<div id=b><p>Yes, within 30 days.</p></div>"
        ));
        assert_eq!(sections(&page)[1].0, ["FAQ", "Can I return sandals?"], "{button}");
    }
    for html in [
        "<button aria-expanded=false>Sandals?</button><div>Yes.</div>",
        "<button aria-controls=x>Sandals?</button><div>Yes.</div>",
        "<details><summary><button>Sandals?</button></summary><p>Yes.</details>",
    ] {
        let separated = text(&format!("<p>A</p>{html}"));
        assert!(separated == "A\n\nSandals?\n\nYes." || separated == "A\n\nSandals? Yes.", "{separated}");
    }
    assert_eq!(text("<dl><dt><button>Sandals</button><dd>Yes.</dl>"), "Sandals\n\nYes.");
    assert_eq!(
        text("<table><thead><tr><th><button>Plan</button><th>Price<tbody><tr><td>A<td>9</table>"),
        "Plan\tPrice\nA\t9"
    );
    for heading in ["<h2>Refunds <button>Copy link</button></h2>", "<h2>2. <button>Refunds</button></h2>"] {
        let page = page(&format!("{heading}<p>A"));
        assert_eq!(sections(&page)[0].0.join(" ").trim_start_matches("2. "), "Refunds", "{heading}");
    }
    for html in [
        "<button>Send</button>",
        "<button aria-expanded=false aria-haspopup=true>Menu</button>",
        "<button aria-controls=x>Next</button>",
        "<nav><button aria-expanded=false>Menu</button></nav>",
    ] {
        assert_eq!(text(&format!("<p>A</p>{html}<p>B")), "A\n\nB", "{html}");
    }
}

#[test]
fn a_heading_without_text_ends_the_section_before_it() {
    let page =
        page("<h1>FAQ</h1><h2>Shoes</h2><p>No.</p><h2><img src=q.png></h2><p>Yes.<ul><li><h2></h2>C</ul>");
    let headings: Vec<_> = sections(&page).into_iter().map(|(headings, _)| headings.join(" > ")).collect();
    assert_eq!(headings, ["FAQ > Shoes", "FAQ"]);
    assert_eq!(page.text, "FAQ\n\nShoes\n\nNo.\n\nYes.\n\n- C");
}

#[test]
fn only_rows_that_the_page_declares_are_headers() {
    for (table, expected) in [
        ("<tr><td>Price<td>9 €<tr><td>Term<td>12 months", "Price\t9 €\nTerm\t12 months"),
        ("<tr><th>Price<td>9 €<tr><th>Term<td>12 months", "Price\t9 €\nTerm\t12 months"),
        ("<tr><th>Plan<th>Price<tr><td>A<td>9", "Plan\tPrice\nA\t9"),
        ("<thead><tr><td>Plan<td>Price<tbody><tr><td>A<td>9", "Plan\tPrice\nA\t9"),
        ("<thead><tr><th><th><tbody><tr><td>Price<td>9 €<tr><td>B<td>8", "Price\t9 €\nB\t8"),
        ("<thead><tr><th>Plan<th>Price", "Plan\tPrice"),
        ("<tr><th>Plan<th>Price</table>", "Plan\tPrice"),
        (
            "<thead><tr><th rowspan=2>Plan<th colspan=2>Price<tr><th>Month<th>Year<tbody><tr><td>A<td>9<td>90",
            "Plan\tPrice\t\nPlan\tMonth\tYear\nA\t9\t90",
        ),
        ("<tbody><tr><td>A<td>9<thead><tr><th>Plan<th>Price", "A\t9\nPlan\tPrice"),
    ] {
        assert_eq!(text(&format!("<table>{table}")), expected, "{table}");
    }
}

#[test]
fn rows_of_a_group_are_below_its_name() {
    let table = "<tr><th colspan=3>Spa</th><tr><th>Bath<th>Price<th>Time<tr><td>Salt<td>20<td>1 h\
        <tr><th colspan=3>Not available for guests under 18<tr><td>Mud<td>30<td>1 h<tr><th colspan=3>Ask us!<tr><td>Milk<td>40<td>2 h\
        <tr><th colspan=3>The end";
    assert_eq!(
        text(&format!("<table>{table}")),
        "Spa\t\t\nBath\tPrice\tTime\nSalt\t20\t1 h\nNot available for guests under 18\t\t\nMud\t30\t1 h\n\
        Ask us!\t\t\nMilk\t40\t2 h\nThe end\t\t"
    );
    assert_eq!(text("<table><tr><th>Only<tr><td>One</table>"), "Only\nOne");
    let rows: String = (0..10_000).map(|at| format!("<tr><th>{at}")).collect();
    assert!(text(&format!("<table><thead>{rows}<tbody><tr><td>A")).ends_with("\nA"));
}

#[test]
fn all_main_parts_are_read() {
    for (html, expected) in [
        (
            "<main><p>Loading, please wait.</p></main><main><p>Real</main><p>Around",
            "Loading, please wait.\n\nReal",
        ),
        ("<div role=main>A<main>B</main></div><main>C</main>", "A\n\nB\n\nC"),
        ("<main hidden>A</main><main>B</main>", "B"),
        ("<div hidden><main>A</main></div><main>B</main>", "B"),
        ("<body style='visibility:hidden'><main>A</main>", "A"),
        ("<p>Loading …</p><div hidden><main>A</main></div>", "A"),
        ("<p>A<p hidden=until-found>B<p hidden='Until-Found'>C<p hidden=hidden>D", "A\n\nB\n\nC"),
    ] {
        assert_eq!(text(html), expected, "{html}");
    }
}

#[test]
fn a_main_part_that_nobody_sees_is_not_read_instead_of_the_page() {
    let shown = "<p>Our shop is open from nine to five, from Monday to Friday. On Saturday it is open from ten to two, and \
        on Sunday it is closed.</p>";
    for hidden in [
        "<div style='display:none'><main>Secret.</main></div>",
        "<div hidden><div role=main>Secret.</div></div>",
        "<div aria-hidden=true><article>Secret. {}</article></div>",
        "<template><main>Secret.</main></template>",
        "<dialog><main>Secret.</main></dialog>",
        "<noscript><main>Secret.</main></noscript>",
    ] {
        let hidden = hidden.replace("{}", &"More. ".repeat(50));
        for html in [format!("{shown}{hidden}"), format!("{hidden}{shown}")] {
            let text = text(&html);
            assert!(text.contains("nine to five") && !text.contains("Secret"), "{html}: {text}");
        }
    }
    for never in ["template", "dialog", "noscript"] {
        assert_eq!(text(&format!("<p>A<{never}><main>Secret.</main></{never}>")), "A", "{never}");
    }
    let note = "its content is hidden until a script shows it";
    assert_eq!(page("<div hidden><main>A</main></div>").notes, [note]);
}

#[test]
fn addresses_that_cloudflare_hides_are_read() {
    let hidden: String = "help@example.org".bytes().map(|byte| format!("{:02x}", byte ^ 0x5a)).collect();
    let with = |hex: &str| {
        text(&format!(
            "Write to <a href=/cdn-cgi/l/email-protection class=__cf_email__ data-cfemail={hex}>[email&#160;protected]</a> today."
        ))
    };
    assert_eq!(with(&format!("5a{hidden}")), "Write to help@example.org today.");
    for broken in ["5a", "", "zz", "5", "5aé", &format!("5a{hidden}0"), "5a616263", "5a401a1a50"] {
        assert_eq!(with(broken), "Write to [email protected] today.", "{broken}");
    }
}

#[test]
fn deep_nesting_is_refused_however_it_is_written() {
    for part in [
        "<div></x>",
        "<x><div></x></div>",
        "<x><p></x></p>",
        "<div><!-- </div> -->",
        "<div title='</div>'>",
        "<div><script>'</div>'</script>",
        "<div><textarea></div></textarea>",
        "<svg><![CDATA[></svg>]]>",
        "<b><div></b>",
    ] {
        let error = document(&format!("<p>A{}", part.repeat(2_600))).unwrap_err();
        assert!(error.to_string().contains("nests elements more than"), "{part}: {error}");
    }
    for part in [
        "<div><span></div>",
        "<p>a<b>",
        "<br>",
        "<li>a",
        "</x>",
        "<!-- <div> -->",
        "<a title='<b>'>a</a>",
        "<img>",
    ] {
        assert!(text(&format!("<p>A</p>{}", part.repeat(4_000))).starts_with('A'), "{part}");
    }
}
