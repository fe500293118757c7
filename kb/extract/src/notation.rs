//! Rewrites what generators of sites add to Markdown into Markdown with HTML, so that a parser of Markdown reads the content of it:
//! admonitions and tabs of MkDocs and Docusaurus, callouts, shortcodes, tags of templates, imports of MDX.

/// Maximum nesting of admonitions and tabs; deeper ones are code, as in plain Markdown.
const MAX_DEPTH: usize = 8;
/// Lines that are replaced by a table of contents.
const CONTENTS: [&str; 4] = ["[toc]", "[[toc]]", "[[_toc_]]", "{:toc}"];

/// The document without notation of generators, and notes about what was left out.
pub(crate) fn rewrite(document: &str) -> (String, Vec<String>) {
    let (document, hidden) = without_template_comments(document);
    let lines: Vec<&str> = document.lines().collect();
    let mut rewriter = Rewriter { text: String::with_capacity(document.len()) };
    rewriter.lines(&lines, 0);
    let notes = if hidden > 0 { vec![left_out(hidden)] } else { Vec::new() };
    (rewriter.text, notes)
}

fn left_out(comments: usize) -> String {
    let noun = if comments == 1 { "comment" } else { "comments" };
    format!("left out {comments} {noun} of templates")
}

/// Removes `{% comment %}…{% endcomment %}`, `{# … #}` and `{/* … */}`, and counts them.
fn without_template_comments(document: &str) -> (String, usize) {
    const COMMENTS: [(&str, &str); 4] = [
        ("{% comment %}", "{% endcomment %}"),
        ("{%- comment -%}", "{%- endcomment -%}"),
        ("{/*", "*/}"),
        ("{{/*", "*/}}"),
    ];
    let mut text = document.to_owned();
    let mut count = 0;
    for (open, close) in COMMENTS {
        let mut kept = String::new();
        let mut rest = text.as_str();
        while let Some((before, inside)) = rest.split_once(open) {
            // A comment that is never closed is text.
            let Some((_, after)) = inside.split_once(close) else { break };
            kept.push_str(before);
            count += 1;
            rest = after;
        }
        kept.push_str(rest);
        text = kept;
    }
    (text, count)
}

struct Rewriter {
    text: String,
}

impl Rewriter {
    fn lines(&mut self, lines: &[&str], depth: usize) {
        let mut fence: Option<(char, usize)> = None;
        let mut open_boxes = 0_usize;
        let mut numbers = Numbers::default();
        let mut is_in_item = false;
        let mut at = 0;
        while let Some(line) = lines.get(at) {
            at += 1;
            let text = line.trim_start();
            let indent = line.len() - text.len();
            if let Some((mark, length)) = fence {
                if closes_fence(text, mark, length) {
                    fence = None;
                }
                self.push(line);
                continue;
            }
            fence = opens_fence(text);
            if fence.is_some() {
                self.push(line);
                continue;
            }
            let is_item = is_item(text);
            // Markdown takes a line below an item for a part of it, but this one introduces what follows.
            if is_in_item && !is_item && indent == 0 && introduces(text) {
                self.push("");
            }
            is_in_item = is_item || (is_in_item && !text.is_empty());
            let numbered = numbers.escaped(line, lines.get(at..).unwrap_or_default());
            let line = numbered.as_deref().unwrap_or(line);
            if let Some(label) = indented_box(text).filter(|_| depth < MAX_DEPTH) {
                let inside = lines.get(at..).unwrap_or_default();
                let length = inside
                    .iter()
                    .take_while(|inner| inner.trim().is_empty() || indentation(inner) >= indent + 4)
                    .count();
                let inside: Vec<String> =
                    inside.iter().take(length).map(|inner| without_indent(inner, 4)).collect();
                let inside: Vec<&str> = inside.iter().map(String::as_str).collect();
                at += length;
                self.open(label, indent);
                self.lines(&inside, depth + 1);
                self.close(indent);
            } else if let Some(rest) = text.strip_prefix(":::") {
                let rest = rest.trim_start_matches(':').trim();
                if !rest.is_empty() {
                    open_boxes += 1;
                    self.open(title(rest), indent);
                } else if open_boxes > 0 {
                    open_boxes -= 1;
                    self.close(indent);
                }
            } else if let Some(rewritten) = callout(line) {
                self.push(&rewritten);
            } else if is_left_out(text) {
                self.push("");
            } else if let Some(next) = lines.get(at).filter(|next| needs_columns(text, next)) {
                self.push(&without_tags(line));
                self.push(&delimiters(next, cells(text)));
                at += 1;
            } else {
                self.push(&without_tags(line));
            }
        }
        (0..open_boxes).for_each(|_| self.close(0));
    }

    fn push(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn open(&mut self, label: &str, indent: usize) {
        let space = " ".repeat(indent);
        let label = label.replace('&', "&amp;").replace('<', "&lt;");
        self.push("");
        self.push(&format!("{space}<details><summary>{label}</summary>"));
        self.push("");
    }

    fn close(&mut self, indent: usize) {
        self.push("");
        self.push(&format!("{}</details>", " ".repeat(indent)));
        self.push("");
    }
}

/// The numbers of the items above, by indentation.
#[derive(Default)]
pub(crate) struct Numbers(Vec<(usize, u64)>);

impl Numbers {
    /// The line with its number escaped, if the number does not belong to a list: "24. December: closed". Markdown would count on from
    /// the number of the item before.
    pub(crate) fn escaped(&mut self, line: &str, below: &[&str]) -> Option<String> {
        let text = line.trim_start();
        if text.starts_with('#') {
            self.0.clear();
        }
        let indent = indentation(line);
        let number = number(text)?;
        self.0.retain(|(column, _)| *column <= indent);
        let before = self.0.iter().find(|(column, _)| *column == indent).map(|(_, before)| *before);
        let goes_on = || {
            let next = below
                .iter()
                .filter(|line| indentation(line) == indent)
                .find_map(|line| self::number(line.trim_start()));
            next.is_some_and(|next| next == number || next == number + 1)
        };
        let is_item = match before {
            Some(before) if number == before || number == before + 1 => true,
            Some(_) => number <= 1 && goes_on(),
            None => number <= 1 || goes_on(),
        };
        if is_item {
            self.0.retain(|(column, _)| *column != indent);
            self.0.push((indent, number));
            return None;
        }
        let digits = text.chars().take_while(char::is_ascii_digit).count();
        let (digits, rest) = text.split_at_checked(digits)?;
        let space = line.get(..line.len() - text.len()).unwrap_or_default();
        Some(format!("{space}{digits}\\{rest}"))
    }
}

/// The number that begins a line as the marker of an item.
pub(crate) fn number(text: &str) -> Option<u64> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let rest = text.get(digits..)?.strip_prefix(['.', ')'])?;
    if !rest.starts_with([' ', '\t']) || !(1..=9).contains(&digits) {
        return None;
    }
    text.get(..digits)?.parse().ok()
}

fn is_item(text: &str) -> bool {
    let is_bullet = text.strip_prefix(['-', '*', '+']).is_some_and(|rest| rest.starts_with([' ', '\t']));
    is_bullet || number(text).is_some()
}

/// Whether a line ends with a colon or is bold as a whole.
fn introduces(text: &str) -> bool {
    let text = text.trim_end();
    let bold =
        text.strip_prefix("**").and_then(|rest| rest.strip_suffix("**").or_else(|| rest.strip_suffix("**:")));
    text.trim_end_matches(['*', '_']).ends_with([':', '：']) || bold.is_some_and(|bold| !bold.contains("**"))
}

fn opens_fence(text: &str) -> Option<(char, usize)> {
    let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let info = text.trim_start_matches(mark);
    let length = text.len() - info.len();
    (length >= 3 && !(mark == '`' && info.contains('`'))).then_some((mark, length))
}

fn closes_fence(text: &str, mark: char, length: usize) -> bool {
    let rest = text.trim_end();
    rest.len() >= length && rest.chars().all(|c| c == mark)
}

pub(crate) fn indentation(line: &str) -> usize {
    let mut columns = 0;
    for character in line.chars() {
        match character {
            ' ' => columns += 1,
            '\t' => columns += 4 - columns % 4,
            _ => break,
        }
    }
    columns
}

fn without_indent(line: &str, columns: usize) -> String {
    let indent = indentation(line);
    format!("{}{}", " ".repeat(indent.saturating_sub(columns)), line.trim_start())
}

/// The title of an admonition (`!!! note "Title"`, `??? note`) or tab (`=== "Title"`), whose content is indented below it.
fn indented_box(text: &str) -> Option<&str> {
    let rest = ["!!! ", "???+ ", "??? "].into_iter().find_map(|mark| text.strip_prefix(mark));
    let is_tab = rest.is_none();
    let rest = rest.or_else(|| text.strip_prefix("=== ").or_else(|| text.strip_prefix("===! ")))?.trim();
    let quoted = rest.split_once('"').and_then(|(_, rest)| rest.rsplit_once('"')).map(|(title, _)| title);
    match quoted {
        Some(title) => Some(title),
        // "=== " alone may be an underline.
        None if is_tab => None,
        None => rest.chars().next().is_some_and(char::is_alphabetic).then_some(""),
    }
}

/// The title behind the kind of a box: `tip My title`, `{.callout title="My title"}`.
fn title(rest: &str) -> &str {
    if let Some((_, quoted)) = rest.split_once("title=\"") {
        return quoted.split('"').next().unwrap_or_default();
    }
    let after_kind = rest.split_once(char::is_whitespace).map_or("", |(_, title)| title).trim();
    let is_title = !after_kind.starts_with(['{', '.', '#']);
    let bracketed = rest.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(title, _)| title);
    bracketed.unwrap_or(if is_title { after_kind } else { "" })
}

/// `> [!TIP]- Title` as `> **Title**`.
fn callout(line: &str) -> Option<String> {
    let text = line.trim_start_matches(['>', ' ', '\t']);
    let quote = line.get(..line.len() - text.len()).filter(|quote| quote.contains('>'))?;
    let (kind, rest) = text.strip_prefix("[!")?.split_once(']')?;
    let is_kind =
        !kind.is_empty() && kind.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ' ' | '|'));
    let title = rest.trim_start_matches(['+', '-']).trim();
    is_kind.then(|| {
        if title.is_empty() {
            quote.trim_end().to_owned()
        } else {
            format!("{quote}**{title}**\n{}", quote.trim_end())
        }
    })
}

/// Lines that say something to the generator only.
fn is_left_out(text: &str) -> bool {
    let text = text.trim_end();
    let is_import = text.starts_with("import ")
        && (text.ends_with(['\'', '"']) || text.ends_with("';") || text.ends_with("\";"));
    let is_export = text.starts_with("export ") && text.contains(" = ");
    let is_attribute_list = text.starts_with("{:") && text.ends_with('}');
    let is_snippet = text.starts_with("--8<--");
    is_import
        || is_export
        || is_attribute_list
        || is_snippet
        || CONTENTS.contains(&text.to_lowercase().as_str())
}

/// Removes `{% … %}` and shortcodes `{{< … >}}`, `{{% … %}}`, but not within code.
fn without_tags(line: &str) -> String {
    const TAGS: [(&str, &str); 3] = [("{%", "%}"), ("{{<", ">}}"), ("{{%", "%}}")];
    let mut text = line.to_owned();
    for (open, close) in TAGS {
        let mut from = 0;
        while let Some(start) = text.get(from..).and_then(|rest| rest.find(open)).map(|found| from + found) {
            let end =
                text.get(start..).and_then(|rest| rest.find(close)).map(|found| start + found + close.len());
            let is_code = text.get(..start).is_some_and(|before| before.matches('`').count() % 2 == 1);
            let is_other = open == "{%" && text.get(..start).is_some_and(|before| before.ends_with('{'));
            match end {
                Some(end) if !is_code && !is_other => text.replace_range(start..end, ""),
                Some(end) => from = end,
                None => break,
            }
        }
    }
    text
}

/// Whether a table has fewer delimiters than names of columns, which a parser does not take for a table.
fn needs_columns(text: &str, next: &str) -> bool {
    let next = next.trim();
    let is_delimiter =
        next.contains('-') && next.contains('|') && next.chars().all(|c| matches!(c, '-' | '|' | ':' | ' '));
    is_delimiter && text.contains('|') && cells(text) > 1 && cells(next) + 1 == cells(text)
}

fn cells(row: &str) -> usize {
    let row = row.trim();
    let row = row.strip_prefix('|').unwrap_or(row);
    row.strip_suffix('|').unwrap_or(row).split('|').count()
}

fn delimiters(line: &str, columns: usize) -> String {
    let indent = line.get(..line.len() - line.trim_start().len()).unwrap_or_default();
    format!("{indent}|{}", "---|".repeat(columns))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines that are not blank.
    fn lines(document: &str) -> Vec<String> {
        rewrite(document).0.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
    }

    #[test]
    fn boxes_and_tabs_become_elements() {
        assert_eq!(
            lines("=== \"macOS\"\n\n    brew\n\n    ```\n    x\n    ```\n\nAfter"),
            ["<div data-evidence-label=\"macOS\">", "brew", "```", "x", "```", "</div>", "After"]
        );
        assert_eq!(lines("!!! warning\n    Hot"), ["<div>", "Hot", "</div>"]);
        assert_eq!(
            lines(":::tip My \"title\"\nText\n:::"),
            ["<div data-evidence-label=\"My &quot;title&quot;\">", "Text", "</div>"]
        );
        assert_eq!(
            lines("::: {.callout-note title=\"Seen\"}\nText\n:::"),
            ["<div data-evidence-label=\"Seen\">", "Text", "</div>"]
        );
        assert_eq!(lines("> [!faq]- How?\n> So."), ["> **How?**", ">", "> So."]);
    }

    #[test]
    fn tags_of_templates_disappear_and_their_content_stays() {
        assert_eq!(lines("{{< note >}}Kept{{< /note >}}\n{% raw %}\nToo\n{% endraw %}"), ["Kept", "Too"]);
        assert_eq!(lines("Use `{% raw %}` or {{ price }}."), ["Use `{% raw %}` or {{ price }}."]);
        assert_eq!(
            lines("import Tabs from '@theme/Tabs';\n\nimport duties apply.\n[TOC]"),
            ["import duties apply."]
        );
    }

    #[test]
    fn comments_of_templates_are_left_out_with_a_note() {
        let (text, notes) = rewrite("a {% comment %}\nsecret\n{% endcomment %}b {/* no */}c {/* open");
        assert_eq!(text, "a b c {/* open\n");
        assert_eq!(notes, ["left out 2 comments of templates"]);
    }

    #[test]
    fn a_line_that_introduces_a_list_is_not_part_of_the_item_above() {
        assert_eq!(rewrite("- Fire\n**Not covered:**\n- Theft").0, "- Fire\n\n**Not covered:**\n- Theft\n");
        assert_eq!(rewrite("- Fire\ngoes on\n- Theft").0, "- Fire\ngoes on\n- Theft\n");
    }

    #[test]
    fn a_number_is_a_marker_only_in_a_sequence() {
        assert_eq!(lines("1. a\n2. b\n\nThen\n\n1. c\n2. d"), ["1. a", "2. b", "Then", "1. c", "2. d"]);
        assert_eq!(
            lines("24. Dezember: zu\n\n31. Dezember: auf"),
            ["24\\. Dezember: zu", "31\\. Dezember: auf"]
        );
        assert_eq!(
            lines("3. c\n   1. x\n4. d\n\n1. May is a holiday"),
            ["3. c", "   1. x", "4. d", "1\\. May is a holiday"]
        );
        assert_eq!(lines("1. a\n1. b\n# H\n1. a"), ["1. a", "1. b", "# H", "1. a"]);
    }

    #[test]
    fn code_is_not_changed() {
        let code = "```\n:::tip\n!!! note\n{% x %}\n```";
        assert_eq!(lines(code), code.lines().collect::<Vec<_>>());
    }

    #[test]
    fn a_delimiter_row_with_a_cell_too_few_is_completed() {
        assert_eq!(lines("| a | b |\n|---|\n| 1 | 2 |"), ["| a | b |", "|---|---|", "| 1 | 2 |"]);
    }
}
