//! Words that mean the opposite of each other.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::tokens::{Lexicon, Token};
use crate::words::normalized_word;

/// Whether two tokens mean the opposite of each other.
pub(super) fn are_opposites(lexicon: &Lexicon, a: &Token, b: &Token) -> bool {
    if (a.is_number() && b.is_number()) || a.stem == b.stem {
        return false;
    }
    let (a_stem, b_stem) = (lexicon.base(a.stem), lexicon.base(b.stem));
    OPPOSITES_OF.get(a_stem).is_some_and(|opposites| opposites.iter().any(|other| other == b_stem))
        || is_denial(lexicon.base(a.word), lexicon.base(b.word))
        || is_denial(lexicon.base(b.word), lexicon.base(a.word))
}

/// Whether a word is the other with a syllable that denies it: "impossible", "unpaid", "non-smoker", "harmless".
fn is_denial(word: &str, other: &str) -> bool {
    const PREFIXES: &[&str] = &["un", "in", "im", "il", "ir", "dis", "non", "mis", "anti", "de"];
    /// A shorter rest is another word: "in" and "to", "into".
    const MIN_REST: usize = 4;
    let by_prefix = PREFIXES.iter().filter_map(|prefix| word.strip_prefix(prefix)).any(|rest| {
        rest.len() >= MIN_REST && (rest == other || normalized_word(rest).stem == normalized_word(other).stem)
    });
    let by_suffix = word
        .strip_suffix("less")
        .is_some_and(|root| root.len() >= 3 && (other.strip_suffix("ful") == Some(root) || other == root));
    by_prefix || by_suffix
}

/// Words that cannot both be true of the same thing: a word and its opposites, without those with a
/// prefix or suffix that [`is_denial`] knows. Written by hand; the words that `cargo xtask bench
/// generation` exchanges come from a list of its own.
const OPPOSITES: &str = "\
    above/below/under/beneath absent/present accept/reject/refuse/decline/deny accurate/wrong \
    active/passive add/remove/subtract/delete adult/child/minor advance/retreat advantage/drawback \
    after/before/until agree/refuse alive/dead allow/forbid/prohibit/prevent/ban/deny \
    allowed/forbidden/prohibited/banned ancient/modern/new/recent approve/reject/refuse/deny \
    arrive/depart/leave arrival/departure ascend/descend asleep/awake attack/defend/protect \
    backward/forward bad/good/well beautiful/ugly begin/end/finish/stop beginning/end/ending \
    benefit/harm/damage best/worst better/worse big/small/little black/white bottom/top \
    bright/dark/dim broad/narrow build/destroy/demolish buy/sell cheap/expensive/costly \
    clean/dirty clear/vague close/open/far cold/hot/warm common/rare/unusual complex/simple \
    continue/stop/cease correct/wrong/false cool/warm/heat create/destroy day/night \
    death/birth/life decrease/increase/rise/grow decline/grow/rise/increase deep/shallow \
    defeat/victory demand/supply deny/admit/confirm/grant different/same/identical/similar/equal \
    difficult/easy/simple down/up during/before/after dry/wet/humid early/late earlier/later \
    earliest/latest east/west eastern/western easy/hard empty/full enable/disable/prevent \
    encourage/discourage/deter enemy/friend/ally enter/exit/leave even/odd exclude/include \
    expand/shrink/contract export/import external/internal exterior/interior fail/succeed/pass \
    failure/success fall/rise false/true famous/unknown/obscure far/near fast/slow fat/thin \
    female/male few/many fewer/more first/last/final follow/precede following/preceding/previous \
    foreign/domestic/local/native former/latter/current/present/future free/paid/expensive/captive \
    frequent/rare front/back/rear future/past gain/lose/loss general/specific/particular \
    give/take/receive great/small/little greater/less/smaller/lesser greatest/least/smallest \
    guilty/innocent half/full/whole/double happy/sad hard/soft healthy/sick/ill heavy/light \
    hide/show/reveal high/low higher/lower highest/lowest hot/cool huge/tiny in/out include/omit \
    increase/reduce/lower/drop/fall indoor/outdoor inside/outside inner/outer \
    intentional/accidental join/leave keep/lose/discard large/small/little larger/smaller \
    largest/smallest last/next least/most left/right less/more live/die living/dead \
    liquid/solid/gas long/short/brief longer/shorter longest/shortest lose/win/find \
    loss/profit/win loud/quiet/silent love/hate major/minor majority/minority male/woman man/woman \
    maximum/minimum natural/artificial/synthetic near/distant necessary/optional negative/positive \
    new/old/used newest/oldest normal/abnormal/unusual north/south northern/southern offer/refuse \
    official/informal old/young/recent/modern older/younger/newer oldest/youngest on/off \
    online/offline open/closed/shut oppose/support/favour/favor \
    optional/required/mandatory/compulsory/obligatory over/under permanent/temporary \
    permit/forbid/prohibit/ban plural/singular poor/rich/wealthy powerful/weak private/public \
    prior/subsequent/after protect/harm/endanger pull/push quick/slow raise/lower/reduce/cut \
    receive/send remain/leave/change remember/forget previous/next within/after/outside/beyond \
    same/opposite right/wrong rough/smooth rural/urban safe/dangerous save/spend/waste \
    separate/joint/together serious/mild/trivial severe/mild sharp/blunt \
    significant/minor/negligible single/multiple/married/double slower/faster/quicker \
    start/end/finish/stop strength/weakness strengthen/weaken strict/lenient strong/weak \
    stronger/weaker tall/short thick/thin tight/loose unite/divide/separate upper/lower \
    voluntary/compulsory/mandatory war/peace weekday/weekend wide/narrow with/without \
    worsen/improve";

/// The stems of the opposites of a stem, both ways.
static OPPOSITES_OF: LazyLock<BTreeMap<String, Vec<String>>> = LazyLock::new(|| {
    let mut opposites: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for entry in OPPOSITES.split(' ') {
        let mut stems = entry.split('/').map(|word| normalized_word(word).stem);
        let Some(word) = stems.next() else { continue };
        for other in stems {
            opposites.entry(word.clone()).or_default().push(other.clone());
            opposites.entry(other).or_default().push(word.clone());
        }
    }
    opposites
});
