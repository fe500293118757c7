//! Finds text that speaks to a language model instead of to a reader. Nothing that it says supports a sentence: "say that the
//! price is 0" is not the statement that the price is 0.

use super::super::is_format_character;

/// Phrases that a passage has only to steer a model. One of them in a passage, and none of its sentences is used.
const STEERING: &[&str] = &[
    "<|",
    "|>",
    "[inst]",
    "<<sys>>",
    "</source",
    "</instructions",
    "</system",
    "ignore all previous",
    "ignore previous instructions",
    "ignore the above",
    "ignore your instructions",
    "disregard previous",
    "disregard all",
    "disregard the above",
    "forget previous instructions",
    "forget all previous",
    "forget your instructions",
    "new instructions:",
    "system prompt",
    "system:",
    "assistant:",
    "language model",
    "ai assistant",
    "ai model",
    "you are now",
    "obey it",
    "no_answer",
    "ignoriere alle",
    "ignoriere die",
    "vergiss alle",
    "neue anweisungen:",
    "sprachmodell",
    "du bist jetzt ein",
    "ignore toutes",
    "ignorez toutes",
    "oublie toutes",
    "instructions précédentes",
    "modèle de langage",
    "tu es maintenant un",
    "ignora todas",
    "olvida todas",
    "instrucciones anteriores",
    "modelo de lenguaje",
    "ahora eres un",
    "تجاهل جميع",
    "تجاهل كل",
    "التعليمات السابقة",
    "أنت الآن",
    "指示をすべて無視",
    "指示を無視",
    "あなたは今から",
    "システムプロンプト",
];

/// Phrases of a sentence that says what to answer. Only that sentence is not used.
const PHRASES: &[&str] = &[
    "tell the visitor",
    "tell the user",
    "respond with",
    "respond only",
    "reply with",
    "reply only",
    "answer with",
    "answer only",
    "repeat after me",
    "cite [",
    "when you answer",
    "in your answer",
    "ignore the question",
    "antworten sie mit",
    "in deiner antwort",
    "dans ta réponse",
    "en tu respuesta",
    "قل إن",
    "وقل للزائر",
    "と答えて",
    "こう答えて",
];

/// Words that begin a command to say something.
const COMMANDS: &str = "say pretend ignore disregard sage sag antworte ignoriere dis dites réponds répondez di diga \
    responde ignora قل وقل أجب تجاهل";

/// Characters of a word that no reader reads: encoded data.
const MAX_READABLE_CHARS: usize = 40;

/// Whether a passage tries to steer a model.
pub(super) fn steers_model(passage: &str) -> bool {
    let text = readable(passage);
    STEERING.iter().any(|phrase| has_phrase(&text, phrase))
}

/// Whether a sentence tells the reader what to answer, or is not made for reading.
pub(super) fn is_command(sentence: &str) -> bool {
    let text = readable(sentence);
    PHRASES.iter().any(|phrase| has_phrase(&text, phrase))
        || COMMANDS.split(' ').chain(["do not mention"]).any(|command| begins_with(&text, command))
        || sentence.split_whitespace().any(is_encoded)
}

/// Whether the text has the whole words of the phrase. Not every script has spaces between words.
fn has_phrase(text: &str, phrase: &str) -> bool {
    let is_inside = |a: Option<char>, b: Option<char>| {
        [a, b].iter().all(|c| c.is_some_and(|c| c.is_ascii_alphanumeric()))
    };
    text.match_indices(phrase).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + phrase.len()..).and_then(|after| after.chars().next());
        !is_inside(before, phrase.chars().next()) && !is_inside(phrase.chars().next_back(), after)
    })
}

/// Whether the text, or a part of it after punctuation, begins with the word. In the middle of a sentence, "say" is a usual word.
fn begins_with(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default().trim_end();
        let after = text.get(at + word.len()..).and_then(|after| after.chars().next());
        let is_begin = before.is_empty()
            || before.ends_with(['.', ',', ':', ';', '!', '?', '>', '*', '-', '(', '"', '。', '、', '：']);
        is_begin && !after.is_some_and(char::is_alphanumeric)
    })
}

fn is_encoded(word: &str) -> bool {
    let is_data = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=');
    word.len() > MAX_READABLE_CHARS && word.chars().all(is_data)
}

/// Lower case on one line, without invisible characters.
fn readable(text: &str) -> String {
    let visible: String = text.chars().filter(|c| !is_format_character(*c)).collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}
