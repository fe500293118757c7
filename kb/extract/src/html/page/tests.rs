/// The statements of the main part of a page.
fn shown(main: &str) -> Vec<String> {
    crate::statement::shown(&crate::html::document(&format!("<main>{main}</main>")).unwrap())
}

#[test]
fn buttons_without_aria_name_their_panels() {
    let accordion = "<h2>Returns</h2><button class=accordion>Refunds for sale items</button><div class=panel><p>Not possible.</p></div>\
        <button class=accordion>Gift cards</button><div class=panel><p>They never expire.</p></div>";
    assert_eq!(shown(accordion), ["Refunds for sale items: Not possible.", "Gift cards: They never expire."]);
    let tabs = "<div class=tab><button class=tablinks>London</button><button class=tablinks>Paris</button></div>\
        <div id=L class=tabcontent><p>Closed on Monday.</p></div><div id=P class=tabcontent><p>Open every day.</p></div>";
    assert_eq!(shown(tabs), ["London: Closed on Monday.", "Paris: Open every day."]);
    assert_eq!(
        shown("<p>Hats are red.</p><button>Buy</button><div>Shoes are blue.</div>"),
        ["Hats are red.", "Shoes are blue."]
    );
}

#[test]
fn a_tab_is_named_by_its_button_wherever_that_is() {
    let expected = ["npm: Run a.", "yarn: Run b."];
    for tabs in [
        "<ul role=tablist><li><button role=tab id=t1>npm</button><li><button role=tab id=t2>yarn</button></ul>\
         <div role=tabpanel aria-labelledby=t1>Run a.</div><div role=tabpanel aria-labelledby=t2 hidden>Run b.</div>",
        "<div role=tablist><a role=tab href='#p1'>npm</a><a role=tab href='#p2'>yarn</a></div>\
         <div><div id=p1>Run a.</div><div id=p2 style='display:none'>Run b.</div></div>",
        "<div><ul role=tablist><li role=tab>npm</li><li role=tab>yarn</li></ul>\
         <div><div role=tabpanel>Run a.</div><div role=tabpanel hidden>Run b.</div></div></div>",
        "<div class=ui-tabs><ul><li><a href='#a'>npm</a><li><a href='#b'>yarn</a></ul><div id=a>Run a.</div><div id=b>Run b.</div></div>",
        "<div class=tab-set><input type=radio id=a><label for=a>npm</label><div>Run a.</div>\
         <input type=radio id=b><label for=b>yarn</label><div>Run b.</div></div>",
        "<div class=vp-code-group><div class=tabs><input type=radio id=a><label for=a>npm</label>\
         <input type=radio id=b><label for=b>yarn</label></div><div class=blocks><div>Run a.</div><div>Run b.</div></div></div>",
    ] {
        assert_eq!(shown(tabs), expected, "{tabs}");
    }
    assert_eq!(
        shown("<div class=table-of-contents><ul><li><a href='#a'>A</a></ul></div><div id=a>Run a.</div>"),
        ["✗ A", "Run a."]
    );
    // A choice in a form.
    assert_eq!(
        shown("<form class=f><input type=radio id=a><label for=a>Card</label><p>Pay now.</p></form>"),
        ["Card", "Pay now."]
    );
}

#[test]
fn a_heading_in_a_tab_names_what_follows_it() {
    assert_eq!(
        shown(
            "<div><button role=tab aria-controls=a>Bikes</button></div><div id=a><h2>Covered</h2><p>Fire.</p><h2>Excluded</h2>\
               <p>Theft.</p></div><p>Call.</p>"
        ),
        ["Bikes: Covered: Fire.", "Bikes: Excluded: Theft.", "Call."]
    );
}

#[test]
fn text_that_a_named_button_opens_is_read() {
    assert_eq!(
        shown(
            "<h3><button aria-expanded=false aria-controls=a>Is it free?</button></h3><div id=a hidden>No.</div>"
        ),
        ["Is it free? No."]
    );
}

#[test]
fn the_name_of_a_box_holds_in_the_box_only() {
    for (name, end) in [
        ("<div class='admonition warning'><p class=admonition-title>Old API</p>", "</div>"),
        (
            "<div class='alert alert--danger'><div class=admonitionHeading_x><span><svg></svg></span>Old API</div><div>",
            "</div></div>",
        ),
        ("<div class='markdown-alert'><p class=markdown-alert-title><svg></svg>Old API</p>", "</div>"),
        ("<aside role=note><h4>Old API</h4>", "</aside>"),
        ("<div class=card><div class=card-header>Old API</div>", "</div>"),
        ("<fieldset><legend>Old API</legend>", "</fieldset>"),
        ("<details><summary><h3>Old API</h3></summary>", "</details>"),
    ] {
        assert_eq!(
            shown(&format!("{name}<p>Use x.</p><p>Call y.</p>{end}<p>Use z.</p>")),
            ["Old API: Use x.", "Old API: Call y.", "Use z."],
            "{name}"
        );
    }
    // A part of the page with headings is no box.
    assert_eq!(
        shown("<div class=card><h3>Not covered</h3><p>Theft.</p><h3>Covered</h3><p>Fire.</p></div>"),
        ["Not covered: Theft.", "Covered: Fire."]
    );
}

#[test]
fn a_heading_of_a_column_holds_in_the_column_only() {
    assert_eq!(
        shown(
            "<div class=col><h3>Included</h3><p>Wifi</p></div><div class=col><h3>Not included</h3><p>Lunch</p></div>\
               <p>Prices from 5 €.</p>"
        ),
        ["Included: Wifi", "Not included: Lunch", "Prices from 5 €."]
    );
}

#[test]
fn a_heading_is_one_whatever_is_in_it() {
    assert_eq!(shown("<h2><div><span>Not covered</span></div></h2><p>Theft.</p>"), ["Not covered: Theft."]);
    assert_eq!(
        shown("<h2>Not covered<p>Theft.</p><p>War.</p>"),
        ["Not covered: Theft.", "Not covered: War."]
    );
    assert_eq!(
        shown("<dl><dt><p>Old</p></dt><dt>Archived</dt><dd>Use x.</dd></dl>"),
        ["Old, Archived: Use x."]
    );
}

#[test]
fn what_follows_a_picture_or_field_is_not_announced_by_the_line_above_it() {
    for unseen in [
        "<img src=list.png>",
        "<p><img src=list.png></p>",
        "<select><option>Norway</select>",
        "<video src=x></video>",
        "<iframe src=x></iframe>",
        "<p><img alt='A list of countries'></p>",
        "<div hidden><ul><li>Norway</ul></div>",
        "<textarea>Norway</textarea>",
        "<form><input name=q><input type=submit></form>",
    ] {
        let statements = shown(&format!("<p>We do not deliver to:</p>{unseen}<p>Delivery takes 2 days.</p>"));
        assert_eq!(statements.last().map(String::as_str), Some("Delivery takes 2 days."), "{unseen}");
    }
    assert_eq!(
        shown("<p>Is it free?</p><img src=a7.png><p>No.</p>").last().map(String::as_str),
        Some("Is it free? No.")
    );
    let document =
        crate::html::document("<main><p>A.</p><img src=a><video></video><img alt='' src=b></main>");
    assert_eq!(document.unwrap().notes, ["left out 2 pictures, videos and fields without a description"]);
}

#[test]
fn a_list_below_a_picture_belongs_to_the_line_above_it_too() {
    assert_eq!(
        shown("<p>We accept none of these.</p><p><img src=a alt=Cards></p><ul><li>Visa</ul>")
            .last()
            .map(String::as_str),
        Some("We accept none of these. Cards: Visa")
    );
    assert_eq!(
        shown("<p>Not in size:</p><canvas></canvas><ul><li>S</ul>").last().map(String::as_str),
        Some("Not in size: S")
    );
}

#[test]
fn a_menu_is_a_list() {
    assert_eq!(
        shown("<p>We do not sell:</p><menu><li>Alcohol</menu><p>We sell milk.</p>"),
        ["✗ We do not sell:", "We do not sell: Alcohol", "We sell milk."]
    );
}

#[test]
fn a_cell_with_an_icon_has_its_name_or_its_row_is_no_quote() {
    let row = |cell: &str| {
        shown(&format!("<table><tr><th>Plan<th>SSO<tr><td>Basic<td>{cell}</table>")).pop().unwrap_or_default()
    };
    for (cell, expected) in [
        ("<i class='fa fa-times'></i>", "Basic – SSO: ✗"),
        ("<i class='fa fa-check' aria-label=included></i>", "Basic – SSO: included"),
        ("<span class='icon icon-check-circle'></span>", "Basic – SSO: ✓"),
        ("<span class=material-icons>close</span>", "Basic – SSO: ✗"),
        ("<img src=/img/cross.svg>", "Basic – SSO: ✗"),
        ("<img src=x.png alt=yes>", "Basic – SSO: yes"),
        ("<svg><use href='#check'></use></svg>", "Basic – SSO: ✓"),
        ("<svg aria-label=no></svg>", "Basic – SSO: no"),
        ("<input type=checkbox checked disabled>", "Basic – SSO: ☑"),
        ("<input type=checkbox>", "Basic – SSO: ☐"),
        ("<i class='fas fa-check text-success' aria-hidden=true></i>", "Basic – SSO: ✓"),
        ("<span class=sr-only>no</span><svg aria-hidden=true></svg>", "Basic – SSO: no"),
        ("<ion-icon name=checkmark></ion-icon>", "Basic – SSO: ✓"),
        ("<span class='dashicons dashicons-no-alt'></span>", "Basic – SSO: ✗"),
        ("<svg><title>included</title></svg>", "Basic – SSO: included"),
        ("<div class=tick></div>", "Basic – SSO: ✓"),
        ("<button>Ask us</button>", "Basic – SSO: Ask us"),
        ("<svg aria-hidden=true></svg>", "✗ Basic – SSO: \u{fffd}"),
        ("<svg><path d=x></path></svg>", "✗ Basic – SSO: \u{fffd}"),
        ("<img src=no-image.png>", "✗ Basic – SSO: \u{fffd}"),
        ("<i class='fa fa-x-twitter'></i>", "✗ Basic – SSO: \u{fffd}"),
        ("<img src=a7.png>", "✗ Basic – SSO: \u{fffd}"),
        ("<i class='fa fa-circle'></i>", "✗ Basic – SSO: \u{fffd}"),
        ("<img alt='' src=a7.png>", "Basic – SSO: –"),
        ("", "Basic – SSO: –"),
    ] {
        assert_eq!(row(cell), expected, "{cell}");
    }
    assert_eq!(shown("<table><tr><th>Plan<th>SSO<tr><td>Basic<td class=no></table>"), ["Basic – SSO: ✗"]);
    assert_eq!(shown("<ul><li><i class='icon-cross' aria-hidden=true></i> API</ul>"), ["✗ API"]);
}

#[test]
fn a_value_over_several_columns_holds_for_each() {
    assert_eq!(
        shown("<table><tr><th>Plan<th>SSO<th>API<th>Mail<tr><td>Basic<td colspan=2>yes<td>no</table>"),
        ["Basic – SSO: yes; API: yes; Mail: no"]
    );
    assert_eq!(shown("<table><tr><th>A<th>B<th>C<tr><td colspan=2>Sum<td>5</table>"), ["Sum – B: –; C: 5"]);
}

#[test]
fn an_accordion_is_named_by_its_buttons() {
    assert_eq!(
        shown(
            "<div><button aria-expanded=false aria-controls=a>Not covered</button><div id=a hidden><p>Theft.</p></div></div>\
               <div><button aria-expanded=false aria-controls=b>Can I pay?</button><div id=b><p>No.</p></div></div><p>Call.</p>"
        ),
        ["Not covered: Theft.", "✗ Can I pay?", "Can I pay? No.", "Call."]
    );
}

#[test]
fn a_part_of_a_sentence_that_is_shown_is_not_lost() {
    assert_eq!(shown("<p>Click <button>Save</button> to finish.</p>"), ["Click Save to finish."]);
    assert_eq!(shown("<p>Click <b><button>Save</button></b> now.</p>"), ["Click Save now."]);
    assert_eq!(shown("<p>Free shipping <button>?</button> always.</p>"), ["Free shipping always."]);
    assert_eq!(
        shown("<p>Choose <select><option>Red</select> as colour.</p>"),
        ["✗ Choose \u{fffd} as colour."]
    );
    assert_eq!(shown("<p>Use it.</p><p><button>Share</button></p>"), ["Use it."]);
}

#[test]
fn cells_of_a_layout_are_separate_words() {
    for main in [
        "<div class=flex><b>Free</b><b>Pro</b></div>",
        "<div style='display: inline-grid'><b>Free</b><b>Pro</b></div>",
        "<style>.x{display:flex}</style><div class=x><b>Free</b><b>Pro</b></div>",
        "<style>.x{display:block}</style><p><b class=x>Free</b><b>Pro</b></p>",
        "<p><span>Free</span><span>Pro</span></p>",
        "<p><a href=x>Free</a><a href=y>Pro</a></p>",
    ] {
        assert_eq!(
            crate::html::document(&format!("<main>{main}</main>")).unwrap().text,
            "Free Pro",
            "{main}"
        );
    }
    for main in ["<p><span>5</span><span>0</span></p>", "<p><code><span>5</span><span>0</span></code></p>"] {
        assert_eq!(crate::html::document(&format!("<main>{main}</main>")).unwrap().text, "50", "{main}");
    }
}

#[test]
fn classes_of_common_style_sheets_hide_and_strike() {
    for (class, is_shown) in [
        ("d-none", false),
        ("hidden", false),
        ("invisible", false),
        ("line-through", false),
        ("hidden md:block", true),
        ("d-none d-md-block", true),
        ("sr-only", true),
    ] {
        let statements = shown(&format!("<p>A.</p><p class='{class}'>B.</p>"));
        assert_eq!(statements.len() == 2, is_shown, "{class}: {statements:?}");
    }
    assert_eq!(
        shown("<style>.hidden.open{display:block}</style><p>A.</p><p class=hidden>B.</p>"),
        ["A.", "B."]
    );
}

#[test]
fn roles_make_a_table() {
    assert_eq!(
        shown(
            "<div role=table><div role=row><span role=columnheader>Plan</span><span role=columnheader>SSO</span></div>\
               <div role=row><span role=cell>Basic</span><span role=cell>no</span></div></div>"
        ),
        ["Basic – SSO: no"]
    );
}

#[test]
fn a_condition_in_the_footer_of_the_site_belongs_to_what_its_mark_is_behind() {
    let page = |footer: &str| {
        let main = "<main><h1>Fees</h1><p>Kids are free.*</p></main>";
        let page = format!("{main}<footer>{footer}<p>Imprint</p></footer>");
        crate::statement::shown(&crate::html::document(&page).unwrap())
    };
    for condition in ["<p>* Only in May.</p>", "<div><ul><li><b>*</b> Only in May.</ul></div>"] {
        assert_eq!(page(condition)[0], "Kids are free.* * Only in May.");
    }
    for hidden in ["<p hidden>* Only in May.</p>", "<div style='display:none'><p>* Only in May.</p></div>"] {
        assert_eq!(page(hidden), ["✗ Kids are free.*"]);
    }
}

#[test]
fn lines_that_begin_with_markers_are_items() {
    assert_eq!(
        shown(
            "<p>(1) Wir haften.<br>(2) Nicht versichert sind:<br>a. Diebstahl<br>b. Krieg</p><p>Orari:<br>o lunedì<br>o martedì</p>\
             <p>Included:<br>[x] SSO<br>[ ] Export</p><p>We pay.<br>Not for:<br>– Theft<br>We do for:<br>– Fire</p>\
             <p>Puoi venire lunedì<br>o martedì alle nove.</p>"
        ),
        [
            "(1) Wir haften.",
            "✗ (2) Nicht versichert sind:",
            "(2) Nicht versichert sind: a. Diebstahl",
            "(2) Nicht versichert sind: b. Krieg",
            "✗ Orari:",
            "Orari: lunedì",
            "Orari: martedì",
            "✗ Included:",
            "Included: [x] SSO",
            "✗ Included: Export",
            "We pay.",
            "✗ Not for:",
            "Not for: Theft",
            "✗ We do for:",
            "We do for: Fire",
            "Puoi venire lunedì o martedì alle nove.",
        ]
    );
}

#[test]
fn items_have_the_numbers_that_a_browser_shows() {
    for (list, expected) in [
        ("<ol reversed><li>a<li>b</ol>", ["2. a", "1. b"]),
        ("<ol type=I start=9><li>a<li>b</ol>", ["IX. a", "X. b"]),
        ("<ol type=a start=26><li>a<li>b</ol>", ["z. a", "aa. b"]),
        ("<ol style='list-style: none'><li>a<li>b</ol>", ["a", "b"]),
        ("<ol style='list-style-type: lower-alpha'><li>a<li>b</ol>", ["a. a", "b. b"]),
        ("<style>.r{list-style-type:upper-roman}</style><ol class=r><li>a<li>b</ol>", ["I. a", "II. b"]),
    ] {
        assert_eq!(shown(list), expected, "{list}");
    }
}

#[test]
fn deep_nesting_ends_with_an_error_and_wide_pages_do_not() {
    let deep = |tag: &str| format!("<main><p>A.{}", format!("<{tag} class=note>").repeat(20_000));
    for tag in ["div", "span", "ul", "blockquote", "table><tr><td", "details", "b"] {
        assert!(crate::html::document(&deep(tag)).is_err(), "{tag}");
    }
    let wide =
        "<div class='note row'><span>ab</span><span>cd</span><input type=checkbox></div>".repeat(3_000);
    assert!(crate::html::document(&format!("<main>{wide}</main>")).is_ok());
    for inline in ["<b>ab</b> ", "<b>x</b><sup>1</sup> ", "<code>a</code>\u{ad}"] {
        assert!(crate::html::document(&format!("<main><p>{}", inline.repeat(20_000))).is_ok());
    }
}
