//! Properties that hold for arbitrary bytes.

mod support;

use extract::{Format, document};
use proptest::prelude::*;

const IN_PROCESS: [Format; 4] = [Format::Markdown, Format::PlainText, Format::Html, Format::Csv];

fn check(bytes: &[u8]) {
    for format in IN_PROCESS {
        let once = document(bytes, format);
        if let Ok(read) = &once {
            support::check(read);
        }
        assert_eq!(once, document(bytes, format), "{format:?}");
        assert_ne!(once, Err(extract::ExtractError::Crashed), "{format:?}");
    }
}

#[test]
fn earlier_failures_stay_fixed() {
    for text in [
        "- ",
        "\ta\n\u{a0}",
        "#<ul>#",
        "<ul><li><ul><li></ul></ul>a",
        "- - -",
        "<dl><dt>a</dl>",
        "😀\n,<img alt=a>",
        "n<h1><sub>*-<dd>*",
    ] {
        check(text.as_bytes());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        check(&bytes);
    }

    #[test]
    fn any_text(text in any::<String>()) {
        check(text.as_bytes());
    }

    #[test]
    fn markup(text in "(?s)(#|-|\\*|>|\\||`{3}|---|\\+{3}|title: |1\\.| |\n|\r|\t|a|é|😀|\"|,|;|<p>|<ul>|<li>|</li>|<table>|<tr>|<td>|</table>|<dl>|<dt>|<dd>|<pre>|<br>|<h1>|</h1>|<sup>|</sup>|<sub>|</sub>|<s>|</s>|<th colspan=2>|<thead>|<button>|</button>|<img alt=a>|<math>|<msup>|<mfrac>|1|2|/|<!--|-->|&amp;|\u{ad}|\u{a0}){0,60}") {
        check(text.as_bytes());
    }
}
