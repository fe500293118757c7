use super::*;

fn page(document: &str) -> Page {
    read(document).unwrap()
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
        "transform: translateX(-9999px)",
        "transform:rotate(3deg) scale(0)",
        "clip:rect(0,0,0,0)",
        "clip: rect(1px, 1px, 1px, 1px)",
        "clip-path:inset(50%)",
        "clip-path: inset(100% 100%)",
        "clip-path:circle(0)",
        "height:0;overflow:hidden",
        "width:1px; height:1px; overflow:hidden",
        "color:#fff;background:#fff",
        "color: white; background-color: white",
        "content-visibility:hidden",
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
        "A\n\nIntro\n\nB\n\n- one\n- two\n  3. x\n  7. y\n\n- Term, Word: Meaning.\n- Other.\n- Alone:\n\nSaid"
    );
    assert_eq!(page.sections[1].headings, ["A", "B"]);
    assert_eq!(page.sections[1].blocks.len(), 3);
}

#[test]
fn code_keeps_its_lines() {
    assert_eq!(
        text("<p>Run<pre><code>\nif x:\n  <b>y</b>\n\n  z</code></pre>"),
        "Run\n\n```\nif x:\n  y\n\n  z\n```"
    );
    assert_eq!(text("<pre>a ``` b\n```\n</pre>"), "````\na ``` b\n```\n````");
}

#[test]
fn tables_have_rows_and_a_header() {
    let document = "<table><caption>Plans</caption><thead><tr><th>Plan<th>Price<tbody><tr><td>Basic<td><p>5 €</p><p>net</p>\
        <tr><td rowspan=2>Pro<td>9 €<tr><td>99 € a year</table>";
    assert_eq!(
        text(document),
        "Plans\n\n| Plan | Price |\n|---|---|\n| Basic | 5 € net |\n| Pro | 9 € |\n| Pro | 99 € a year |"
    );
    assert_eq!(
        text("<table><tr><th>Height<td>2 m<tr><th>Weight<td colspan=2>5 kg</table>"),
        "| Height | 2 m |  |\n| Weight | 5 kg |  |"
    );
    let layout = "<table><tr><td><h1>Title</h1><p>Text.</p><td><table><tr><td>a<td>b</table></table>";
    assert_eq!(text(layout), "Title\n\nText.\n\n| a | b |");
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
        let open = format!("<{element}>").repeat(5_000);
        assert!(text(&format!("<p>Before</p>{open}deep")).contains("deep"), "{element}");
    }
}

#[test]
fn pages_without_text_are_empty() {
    for document in ["<p> </p>", "<script>x</script>", "<img src=a alt=b>", "&nbsp;"] {
        assert_eq!(read(document).map(|_| ()).unwrap_err(), ExtractError::Empty, "{document}");
    }
}

#[test]
fn sections_have_the_ids_of_their_headings() {
    let page = page(
        "<h1>A</h1><p>One.<h2 id=b>B</h2><p>Two.<h3>C</h3><p>Three.<h3><a name='d-d'>D</a> <a id=x>¶</a></h3><p>Four.\
        <section id=é><h2>E</h2><p>Five.</section><section id=f><p>Six.<h2>G</h2><p>Seven.</section>\
        <h2 id='h h'>H</h2><p>Eight.<h2 id=i:~:text=x>I</h2><p>Nine.<h2 id=''>J</h2><p>Ten.",
    );
    let anchors: Vec<_> = page
        .sections
        .iter()
        .filter_map(|section| Some((section.headings.last()?.as_str(), section.anchor.as_deref())))
        .collect();
    let expected = [
        ("A", None),
        ("B", Some("b")),
        ("C", Some("b")),
        ("D", Some("d-d")),
        ("E", Some("é")),
        ("G", None),
        ("H", None),
        ("I", None),
        ("J", None),
    ];
    assert_eq!(anchors, expected);
}
