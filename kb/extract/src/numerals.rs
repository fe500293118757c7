//! Numbers of lists that are written with letters.

const ROMAN: [(i64, &str); 13] = [
    (1000, "m"),
    (900, "cm"),
    (500, "d"),
    (400, "cd"),
    (100, "c"),
    (90, "xc"),
    (50, "l"),
    (40, "xl"),
    (10, "x"),
    (9, "ix"),
    (5, "v"),
    (4, "iv"),
    (1, "i"),
];

/// i, ii, iii, iv, … up to 3999.
pub(crate) fn roman(number: i64) -> Option<String> {
    if !(1..4000).contains(&number) {
        return None;
    }
    let mut rest = number;
    let mut text = String::new();
    for (value, sign) in ROMAN {
        while rest >= value {
            text.push_str(sign);
            rest -= value;
        }
    }
    Some(text)
}

/// a, b, …, z, aa, ab, … as CSS counts.
pub(crate) fn letters(number: i64) -> Option<String> {
    let mut rest = number;
    let mut letters = Vec::new();
    while rest > 0 {
        rest -= 1;
        letters.push(char::from(b'a' + u8::try_from(rest % 26).unwrap_or_default()));
        rest /= 26;
    }
    (!letters.is_empty()).then(|| letters.into_iter().rev().collect())
}
