//! Numbers of lists that are written with letters.

const VALUES: [i64; 13] = [1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1];
const SIGNS: [&str; 13] = ["m", "cm", "d", "cd", "c", "xc", "l", "xl", "x", "ix", "v", "iv", "i"];

/// i, ii, iii, iv, … up to 3999.
pub(crate) fn roman(number: i64) -> Option<String> {
    if !(1..4000).contains(&number) {
        return None;
    }
    let mut rest = number;
    let mut text = String::new();
    for (value, sign) in VALUES.into_iter().zip(SIGNS) {
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
