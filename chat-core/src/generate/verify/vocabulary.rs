//! Generic nouns of names, and function words.

use crate::words::{is_listed, is_stop_word};

/// Generic nouns of names, such as "university". Directions and numbers are not among them: they
/// tell names apart.
const GENERIC_NOUNS: &str = "\
    academy act administration agency airport album army arts association award awards bachelor \
    bank base battle board book building captain center centre chairman championship church city \
    club college commission committee company conference corporation council county court cup day \
    department director district division doctor dr duke earl election empire family festival \
    foundation general government governor group high hospital hotel house institute international \
    island islands journal judge king kingdom lady lake law league library lieutenant limited lord \
    magazine major master mayor memorial minister ministry mission mount mr mrs ms museum national \
    news office officer order palace park parliament party prefecture president presidential \
    prince princess prize professor program programme project province queen record records \
    republic republican river road royal saint school season secretary senator series service show \
    sir society square st state states station street studios team theater theatre tour tournament \
    tower town tribute university village war";

/// Function words next to the stop words.
const FUNCTION_WORDS: &str = "\
    through during since until upon within over under both either neither nor never none without \
    cannot nothing nobody always however therefore although though unless except per via between \
    up off down again himself herself itself themselves yourself own same hers ours yours theirs \
    need needs among across against yet still even now mine";

pub(super) fn is_generic(base: &str) -> bool {
    is_listed(base, GENERIC_NOUNS)
}

/// "US" and "IT" are no function words.
pub(super) fn is_acronym(raw: &str) -> bool {
    raw.len() > 1 && raw.chars().all(|c| c.is_uppercase() || c == '.')
}

pub(super) fn is_function_word(base: &str) -> bool {
    is_stop_word(base) || is_listed(base, FUNCTION_WORDS)
}
