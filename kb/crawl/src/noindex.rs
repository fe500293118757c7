//! Pages that ask not to be indexed by the header `X-Robots-Tag`.

use reqwest::header::HeaderMap;

/// Directives of `X-Robots-Tag` that take a value: the text before their colon is not the name of a robot.
const DIRECTIVES_WITH_VALUE: [&str; 4] =
    ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"];

/// Returns whether the headers forbid the robot called `product` to index the page.
pub(crate) fn in_headers(headers: &HeaderMap, product: &str) -> bool {
    headers
        .get_all("x-robots-tag")
        .iter()
        .any(|value| forbids(&String::from_utf8_lossy(value.as_bytes()), product))
}

/// `noindex, nofollow` addresses every robot; `otherbot: noindex, nofollow` addresses one until the value names another.
fn forbids(value: &str, product: &str) -> bool {
    let mut is_addressed = true;
    value.split(',').any(|part| {
        let directive = match part.split_once(':') {
            Some((name, directive)) if !is_one_of(name, &DIRECTIVES_WITH_VALUE) => {
                is_addressed = is_one_of(name, &[product, "*"]);
                directive
            }
            _ => part,
        };
        is_addressed && is_one_of(directive, &["noindex", "none"])
    })
}

fn is_one_of(text: &str, names: &[&str]) -> bool {
    names.iter().any(|name| text.trim().eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRODUCT: &str = "evidencechatbot";

    #[test]
    fn a_header_addresses_every_robot_or_one_robot() {
        for (value, forbidden) in [
            ("noindex", true),
            ("NoFollow , NOINDEX", true),
            ("none", true),
            ("*: noindex", true),
            ("EvidenceChatBot: noindex", true),
            ("otherbot: nofollow, EvidenceChatBot: noindex", true),
            ("unavailable_after: 25 Jun 2010 15:00:00 PST, noindex", true),
            ("", false),
            ("index, nofollow", false),
            ("noindexed", false),
            ("otherbot: noindex, nofollow", false),
            ("EvidenceChatBot: nofollow, otherbot: none", false),
            ("max-image-preview: none", false),
        ] {
            assert_eq!(forbids(value, PRODUCT), forbidden, "{value}");
        }
    }

    #[test]
    fn a_robot_name_applies_to_its_own_header_line_only() {
        let mut headers = HeaderMap::new();
        headers.append("x-robots-tag", "otherbot: nofollow".parse().unwrap());
        assert!(!in_headers(&headers, PRODUCT));
        headers.append("x-robots-tag", "noindex".parse().unwrap());
        assert!(in_headers(&headers, PRODUCT));
    }
}
