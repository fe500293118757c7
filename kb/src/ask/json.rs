//! The explanation as one JSON document.

use chat_core::chunk::MatchedChunk;
use chat_core::evidence::PassageAssessment;
use serde_json::{Value, json};

use super::explain::best_sentence;
use super::{Asked, Conclusion};

/// NaN becomes null.
pub fn report(asked: &Asked) -> Value {
    let assessment = &asked.assessment;
    let candidates: Vec<Value> =
        asked.passages().map(|(passage, row)| candidate(passage, row, asked.best_z(row.chunk_id))).collect();
    let terms = asked.rows.iter().find_map(|row| row.query_terms.as_deref());
    let terms = terms.map(|terms| {
        terms.iter().map(|term| json!({ "word": term.word, "weight": term.weight })).collect::<Vec<_>>()
    });
    let check = |value: Option<f64>, threshold: f64| {
        let passed = value.is_some_and(|value| value >= threshold);
        json!({ "value": value, "threshold": threshold, "passed": passed })
    };
    json!({
        "question": asked.question,
        "searched": asked.searched.searched,
        "truncated": asked.searched.truncated,
        "query_terms": terms,
        "candidates": candidates,
        "thresholds": {
            "similarity": check(asked.best_similarity(), asked.thresholds.similarity),
            "confidence": check(Some(assessment.confidence), asked.thresholds.confidence),
        },
        "signals": assessment.signals,
        "evidence": assessment.evidence,
        "background": asked.thresholds.background,
        "decided_by": asked.decided_by,
        "outcome": outcome(&asked.conclusion),
    })
}

fn candidate(passage: &PassageAssessment, row: &MatchedChunk, z: Option<f64>) -> Value {
    let sentence = best_sentence(row).map(|(sentence, text)| {
        json!({ "start": sentence.start, "end": sentence.end, "similarity": sentence.similarity, "text": text })
    });
    let mut candidate = json!(passage);
    candidate["document_id"] = json!(row.document_id);
    candidate["title"] = json!(row.title());
    candidate["section"] = json!(row.section());
    candidate["best_sentence"] = json!(sentence);
    candidate["best_z"] = json!(z);
    candidate
}

fn outcome(conclusion: &Conclusion) -> Value {
    match conclusion {
        Conclusion::Answer(answer) => {
            let sentences: Vec<Value> = answer
                .deltas
                .iter()
                .zip(&answer.sentences)
                .map(|(text, sentence)| {
                    json!({
                        "text": text.trim(),
                        "chunk_id": sentence.chunk_id,
                        "score": sentence.score,
                    })
                })
                .collect();
            json!({
                "type": "answer",
                "text": answer.deltas.concat(),
                "hedged": answer.hedged,
                "sentences": sentences,
                "citations": answer.citations,
                "also_found": answer.also_found,
                "referenced_indices": answer.referenced_indices,
            })
        }
        Conclusion::Refusal(refusal) => {
            let mut outcome = json!(refusal);
            outcome["type"] = "refusal".into();
            outcome
        }
    }
}
