//! Texts with very few tokens for their size, or that are large in another way. Each also contains a sentence that answers a
//! question about its own subject.

/// A file that must be readable and findable.
pub(crate) struct Oversized {
    pub(crate) name: &'static str,
    pub(crate) content: String,
    /// A question about the file, and a part of its answer.
    pub(crate) question: &'static str,
    pub(crate) answer: &'static str,
}

const MIB: usize = 1024 * 1024;

/// The list. All files are quick to embed: a run of letters is one token, whatever its length.
pub(crate) fn files() -> Vec<Oversized> {
    let mut files = Vec::new();
    let mut add = |name, content, question, answer| {
        files.push(Oversized { name, content, question, answer });
    };
    add(
        "run-of-letters-5-mb.md",
        format!("How tall is it? The Korsvik lighthouse is 41 metres tall. {}", "X".repeat(5 * MIB)),
        "How tall is the Korsvik lighthouse?",
        "41 metres",
    );
    add(
        "run-in-a-sentence.txt",
        format!("The Dorvik ferry leaves at noon. And then comes {}", "abc".repeat(100_000)),
        "When does the Dorvik ferry leave?",
        "noon",
    );
    add(
        "white-space-5-mb.txt",
        format!("The Nordvik inn has nine rooms. {}The end of it.", " ".repeat(5 * MIB)),
        "How many rooms does the Nordvik inn have?",
        "nine rooms",
    );
    add(
        "heading-of-1.5-mb.md",
        format!("# {}\n\nThe Elmstad mill grinds rye on Tuesdays.\n", "H".repeat(3 * MIB / 2)),
        "When does the Elmstad mill grind rye?",
        "Tuesdays",
    );
    add(
        "heading-of-1.5-mb.html",
        format!(
            "<title>{}</title><h1>{}</h1><p>The Birkvik mill grinds oats on Mondays.</p>",
            "t".repeat(MIB),
            "H".repeat(3 * MIB / 2)
        ),
        "When does the Birkvik mill grind oats?",
        "Mondays",
    );
    let heading = |at: usize| format!("{} {}{at}\n\n", "#".repeat(1 + at % 6), "Heading ".repeat(24));
    let headings: String = (0..10_000)
        .map(|at| heading(at) + if at % 200 == 0 { "The Falkvik pier is closed.\n\n" } else { "" })
        .collect();
    add(
        "headings-in-headings.md",
        format!("The Falkvik crane lifts forty tonnes.\n\n{headings}"),
        "How much does the Falkvik crane lift?",
        "forty tonnes",
    );
    add(
        "hex-dump.txt",
        format!("The Granvik clock strikes thirteen.\n\n{}", hex_dump(500)),
        "How often does the Granvik clock strike?",
        "thirteen",
    );
    add(
        "base32.txt",
        format!("The Halvik bell weighs two tonnes.\n\n{}", base32(20_000)),
        "How much does the Halvik bell weigh?",
        "two tonnes",
    );
    add(
        "list-of-5000-items.md",
        format!("The Ingvik shop opens at seven. It sells:\n\n{}", items(5_000)),
        "When does the Ingvik shop open?",
        "seven",
    );
    add(
        "ayay.md",
        format!("The Jarvik baker sells bread at six. {}", "Ay".repeat(100_000)),
        "When does the Jarvik baker sell bread?",
        "six",
    );
    let zalgo = format!("Z{}", "\u{301}\u{334}\u{35f}".repeat(100)).repeat(100);
    let one_grapheme = format!("Z{}", "\u{301}".repeat(200_000));
    add(
        "zalgo.md",
        format!("The Kelvik harbour is deep and quiet.\n\n{zalgo}\n\n{one_grapheme}\n"),
        "What is the Kelvik harbour like?",
        "deep and quiet",
    );
    add(
        "control-characters.txt",
        format!("The Larvik tower has 212 steps. {}", "\u{1}\u{7}\u{1b}\u{85}".repeat(20_000)),
        "How many steps does the Larvik tower have?",
        "212",
    );
    add(
        "code-of-one-line.md",
        format!("The Molvik pump runs on diesel.\n\n```\n{}\n```\n", "0".repeat(MIB)),
        "What does the Molvik pump run on?",
        "diesel",
    );
    add(
        "cell-of-1-mb.csv",
        format!("place,note\nOrvik,The Orvik museum is free on Sundays.\nx,{}\n", "c".repeat(MIB)),
        "When is the Orvik museum free?",
        "Sundays",
    );
    files
}

fn items(number: usize) -> String {
    (0..number).map(|at| format!("- nail {at}\n")).collect()
}

/// In the format of `xxd`.
fn hex_dump(lines: u32) -> String {
    let word = |at: u32| at.wrapping_mul(2_654_435_761) >> 16;
    let line = |line: u32| {
        let words: Vec<_> = (0..8).map(|at| format!("{:04x}", word(8 * line + at))).collect();
        format!("{:08x}: {}\n", 16 * line, words.join(" "))
    };
    (0..lines).map(line).collect()
}

/// Lines of 76 characters, without a space.
fn base32(characters: u32) -> String {
    let character = |at: u32| {
        let letter = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[(at.wrapping_mul(2_654_435_761) >> 27) as usize];
        let end = if at % 76 == 75 { "\n" } else { "" };
        format!("{}{end}", char::from(letter))
    };
    (0..characters).map(character).collect()
}
