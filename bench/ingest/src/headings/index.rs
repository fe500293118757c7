//! Passages with their vectors and words.

use chat_core::sentences::sentences;
use embedder::Embedder;

use super::dataset::Passage;
use super::words::{WordIndex, lexemes};
use crate::embed;

/// The size that kb's chunker merges up to.
const TARGET_TOKENS: usize = 200;

pub(super) struct Index {
    passages: usize,
    chunks: Vec<Chunk>,
    words: WordIndex,
}

struct Chunk {
    /// Index of its passage.
    passage: usize,
    vector: Vec<f32>,
    sentences: Vec<Vec<f32>>,
}

/// A score for each passage: that of its best chunk.
pub(super) struct Scores {
    /// Cosine of question and passage.
    pub(super) vectors: Vec<f64>,
    /// The mean of that cosine, the cosine of the best sentence, and the share of the question's words.
    pub(super) combined: Vec<f64>,
}

impl Index {
    /// Chunks and embeds the passages. The chunks are the same with and without headings.
    pub(super) fn new(passages: &[Passage], with_headings: bool, embedder: &Embedder) -> Self {
        let mut owners = Vec::new();
        let mut texts = Vec::new();
        let mut words = Vec::new();
        let mut sentences = Vec::new();
        for (number, passage) in passages.iter().enumerate() {
            let headings = passage.headings.join(" › ");
            for content in cut(&passage.text, &headings, embedder) {
                let below = format!("{headings}\n{content}");
                words.push(lexemes(&below));
                let ranges = chat_core::sentences::sentences(content, 0..content.len());
                sentences.push(ranges.into_iter().map(|range| content[range].to_owned()).collect());
                texts.push(if with_headings { below } else { content.to_owned() });
                owners.push(number);
            }
        }
        let vectors = embed::vectors(embedder, &texts);
        let chunk = |((passage, vector), sentences): ((usize, Vec<f32>), &Vec<String>)| Chunk {
            passage,
            vector,
            sentences: embed::vectors(embedder, sentences),
        };
        Self {
            passages: passages.len(),
            chunks: owners.into_iter().zip(vectors).zip(&sentences).map(chunk).collect(),
            words: WordIndex::new(words),
        }
    }

    pub(super) fn scores(&self, question: &str, vector: &[f32]) -> Scores {
        let mut scores = Scores {
            vectors: vec![f64::NEG_INFINITY; self.passages],
            combined: vec![f64::NEG_INFINITY; self.passages],
        };
        let lexical = self.words.scores(question);
        for (chunk, lexical) in self.chunks.iter().zip(lexical) {
            let similarity = cosine(&chunk.vector, vector);
            let sentences = chunk.sentences.iter().map(|sentence| cosine(sentence, vector));
            let sentence = sentences.reduce(f64::max).unwrap_or(similarity);
            let combined = (similarity + sentence + lexical) / 3.0;
            scores.vectors[chunk.passage] = scores.vectors[chunk.passage].max(similarity);
            scores.combined[chunk.passage] = scores.combined[chunk.passage].max(combined);
        }
        scores
    }
}

/// The passage if it is short enough to embed with its headings, else the fewest pieces of whole sentences that are.
fn cut<'a>(text: &'a str, headings: &str, embedder: &Embedder) -> Vec<&'a str> {
    let fits =
        |content: &str, limit: usize| embedder.count_tokens(&format!("{headings}\n{content}")) <= limit;
    if fits(text, embedder::MAX_TOKENS) {
        return vec![text];
    }
    let mut pieces = Vec::new();
    let (mut start, mut end) = (0, 0);
    for sentence in sentences(text, 0..text.len()) {
        if end > start && !fits(&text[start..sentence.end], TARGET_TOKENS) {
            pieces.push(&text[start..end]);
            start = sentence.start;
        }
        end = sentence.end;
    }
    pieces.push(&text[start..]);
    pieces
}

/// The cosine of unit vectors.
fn cosine(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
}
