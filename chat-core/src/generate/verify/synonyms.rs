//! Words that writers exchange without changing what is said. Only a sentence that copies its source but for one word needs them;
//! see `order::has_foreign_word`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::words::normalized_word;

/// Words of one meaning in the documents of a shop, an office or an encyclopaedia. Written by hand.
const GROUPS: &str = "\
    about/approximately/roughly additionally/moreover/furthermore allow/permit/let \
    answer/reply/respond ask/request assist/help/aid begin/start/commence big/large buy/purchase \
    buyer/customer/client/shopper/purchaser call/name car/vehicle/automobile \
    change/modify/alter/amend check/verify child/kid choose/select/pick company/firm/business \
    contain/include/comprise cost/price/charge create/make/produce delete/remove deliver/ship \
    delivery/shipping/shipment disease/illness/sickness display/show doctor/physician \
    employee/worker ensure/guarantee entire/whole essential/important/crucial fast/quick/rapid \
    final/last finish/end/complete fix/repair/mend forbid/prohibit/ban forbidden/prohibited/banned \
    frequently/often gather/collect get/receive/obtain give/provide/supply/offer guest/visitor \
    home/house inform/notify/tell item/product/article job/position keep/retain locate/situate \
    location/place/site mail/post/send main/primary/principal method/way need/require \
    normally/usually/typically/generally phone/telephone quickly/rapidly/fast refund/reimburse \
    shop/store take/last use/utilise/utilize valid/applicable while/whereas";

/// The groups of each stem.
static GROUPS_OF: LazyLock<BTreeMap<String, Vec<usize>>> = LazyLock::new(|| {
    let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (group, words) in GROUPS.split(' ').enumerate() {
        for word in words.split('/') {
            groups.entry(normalized_word(word).stem).or_default().push(group);
        }
    }
    groups
});

/// Whether two stems are of words that say the same.
pub(super) fn are_synonyms(a: &str, b: &str) -> bool {
    let (Some(of_a), Some(of_b)) = (GROUPS_OF.get(a), GROUPS_OF.get(b)) else { return false };
    of_a.iter().any(|group| of_b.contains(group))
}
