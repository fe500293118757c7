//! `kb ask`.

use super::*;

#[test]
fn evidence_is_compared_with_a_calibration_of_the_same_model_only() {
    let background = |model: &str| {
        let stored = value!([{
            "model": model, "language": "english", "mean": -6.5, "deviation": 1.5, "questions": 80,
            "updated_at": "2026-11-22T10:04:05+00:00",
        }]);
        let fake = table(CALIBRATION, stored);
        kb(&fake.url, &["ask", "How do refunds work?", "--json"]).json()["background"].take()
    };
    assert_eq!(background(embedder::fingerprint()), value!({ "mean": -6.5, "deviation": 1.5 }));
    assert_eq!(background("another"), value!(chat_core::evidence::Background::default()));
}
