//! Rewrites what generators of sites add to Markdown into Markdown with HTML, so that a parser of Markdown reads the content of it:
//! admonitions and tabs of MkDocs and Docusaurus, callouts, shortcodes, tags of templates, MDX.

mod marks;
mod tags;

use std::collections::{HashSet, VecDeque};
use std::ops::Range;

use tags::Tag;
pub(crate) use tags::closed;

/// The end of a group that [`Rewriter::open`] begins.
const GROUP_END: &str = "</details>";
/// Lines that are searched for the end of code within a paragraph.
const MAX_CODE_LINES: usize = 10;
/// Maximum length of a mark or tag within a line.
const MAX_MARK_BYTES: usize = 1000;
/// Maximum nesting of admonitions and tabs; deeper ones are code, as in plain Markdown.
const MAX_DEPTH: usize = 8;
/// Maximum lines of a tag of MDX.
const MAX_TAG_LINES: usize = 30;
/// Lines that are searched for the next number of a list.
const MAX_NUMBER_LINES: usize = 500;

/// The document without notation of generators, and notes about what was left out.
pub(crate) fn rewrite(document: &str) -> (String, Vec<String>) {
    let (document, hidden) = without_template_comments(document);
    let lines: Vec<&str> = document.lines().collect();
    let closed = closed(&document);
    let is_component = |line: &str| tags::component(line).is_some_and(|name| closed.contains(name));
    let code = code(&document);
    let text = code.iter().map(|code| code.start).chain([document.len()]);
    let text = [0].into_iter().chain(code.iter().map(|code| code.end)).zip(text);
    let mut text = text.filter_map(|(start, end)| document.get(start..end)).flat_map(str::lines);
    let is_mdx = text.any(|line| is_component(line) || is_module_line(line));
    let page = Page { closed, is_mdx };
    let mut rewriter = Rewriter { text: String::with_capacity(document.len()), page, open_code: 0 };
    rewriter.lines(&lines, 0);
    let notes = if hidden > 0 { vec![left_out(hidden)] } else { Vec::new() };
    (rewriter.text, notes)
}

fn left_out(comments: usize) -> String {
    let noun = if comments == 1 { "comment" } else { "comments" };
    format!("left out {comments} {noun} of templates")
}

/// Removes `{% comment %}…{% endcomment %}` and `{/* … */}`, but not within code, and counts them.
fn without_template_comments(document: &str) -> (String, usize) {
    const COMMENTS: [(&str, &str); 4] = [
        ("{% comment %}", "{% endcomment %}"),
        ("{%- comment -%}", "{%- endcomment -%}"),
        ("{{/*", "*/}}"),
        ("{/*", "*/}"),
    ];
    let mut text = document.to_owned();
    let mut count = 0;
    for (open, close) in COMMENTS {
        let code = code(&text);
        let mut kept = String::new();
        let mut from = 0;
        let mut at = 0;
        while let Some(start) = text.get(at..).and_then(|rest| rest.find(open)).map(|found| at + found) {
            at = start + open.len();
            let block = code.partition_point(|code| code.end <= start);
            if code.get(block).is_some_and(|code| code.start <= start) {
                continue;
            }
            // A comment that is never closed is text.
            let Some(end) = text.get(at..).and_then(|rest| rest.find(close)) else { break };
            kept.push_str(text.get(from..start).unwrap_or_default());
            count += 1;
            at += end + close.len();
            from = at;
        }
        kept.push_str(text.get(from..).unwrap_or_default());
        text = kept;
    }
    (text, count)
}

/// The ranges of code between fences.
fn code(document: &str) -> Vec<Range<usize>> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    let mut open: Option<(char, usize, usize)> = None;
    let mut start = 0;
    for line in document.split_inclusive('\n') {
        let text = line.trim();
        match open {
            Some((mark, length, begin)) if closes_fence(text, mark, length) => {
                blocks.push(begin..start);
                open = None;
            }
            Some(_) => {}
            None => open = opens_fence(text).map(|(mark, length)| (mark, length, start)),
        }
        start += line.len();
    }
    blocks.extend(open.map(|(.., begin)| begin..start));
    blocks
}

/// Properties of a whole document.
struct Page {
    /// Names of tags that are closed anywhere.
    closed: HashSet<String>,
    is_mdx: bool,
}

struct Rewriter {
    text: String,
    page: Page,
    /// The backticks of code that goes on in the next line.
    open_code: usize,
}

/// A box, tab or element that is open.
struct OpenBox {
    name: String,
    indent: usize,
    /// The text that ends it.
    close: String,
    /// Columns of indentation of its content that mean nothing.
    removed: usize,
    /// Names of its tabs that their own tags leave out.
    tabs: VecDeque<String>,
}

impl Rewriter {
    fn lines(&mut self, lines: &[&str], depth: usize) {
        let mut fence: Option<(char, usize, String)> = None;
        let mut boxes: Vec<OpenBox> = Vec::new();
        let mut numbers = Numbers::default();
        let mut is_in_item = false;
        // Where the content of the innermost item begins.
        let mut column = 0;
        let mut at = 0;
        while let Some(line) = lines.get(at) {
            at += 1;
            let removed = boxes.last().map_or(0, |open| open.removed);
            let unindented = (removed > 0).then(|| without_indent(line, removed));
            let line = unindented.as_deref().unwrap_or(line);
            let text = line.trim_start();
            let indent = indentation(line);
            if let Some((mark, length, close)) = &fence {
                self.push(line);
                if closes_fence(text, *mark, *length) {
                    self.close(close, indent);
                    fence = None;
                }
                continue;
            }
            if let Some((mark, length)) = opens_fence(text) {
                let name = tags::code_name(text.get(length..).unwrap_or_default().trim_end());
                fence = Some((mark, length, self.open(&name, indent)));
                self.push(line);
                continue;
            }
            let is_item = is_item(text);
            // Markdown takes a line below an item for a part of it, but this one introduces what follows.
            if is_in_item && !is_item && indent == 0 && introduces(text) {
                self.push("");
            }
            let is_after_blank = at < 2 || lines.get(at - 2).is_some_and(|above| above.trim().is_empty());
            if is_item || text.starts_with(": ") || text.starts_with(":\t") {
                let marker = text.find([' ', '\t']).unwrap_or_default();
                column = indent + marker + 1;
            } else if indent == 0 && is_after_blank && !text.is_empty() {
                column = 0;
            }
            is_in_item = is_item || (is_in_item && !text.is_empty());
            // Deeper lines are code.
            let is_code = indent >= column + 4 && is_after_blank;
            let numbered = numbers.escaped(line, lines.get(at..).unwrap_or_default());
            let line = numbered.as_deref().unwrap_or(line);
            if is_code {
                self.push(line);
            } else if let Some(label) = indented_box(text).filter(|_| depth < MAX_DEPTH) {
                let inside = lines.get(at..).unwrap_or_default();
                let length = inside
                    .iter()
                    .take_while(|inner| inner.trim().is_empty() || indentation(inner) >= removed + indent + 4)
                    .count();
                let inside: Vec<String> =
                    inside.iter().take(length).map(|inner| without_indent(inner, removed + 4)).collect();
                let inside: Vec<&str> = inside.iter().map(String::as_str).collect();
                at += length;
                let close = self.open(&label, indent);
                self.lines(&inside, depth + 1);
                self.close(&close, indent);
            } else if let Some(rest) = text.strip_prefix(":::") {
                let rest = rest.trim_start_matches(':').trim();
                if rest.is_empty() {
                    self.close_box(&mut boxes, ":::");
                } else {
                    self.push("");
                    let close = self.open(&tags::box_name(rest), indent);
                    let (name, tabs) = (":::".to_owned(), VecDeque::new());
                    boxes.push(OpenBox { name, indent, close, removed, tabs });
                }
            } else if self.tag_line(line, lines, &mut at, &mut boxes) {
            } else if self.page.is_mdx && text.starts_with("<summary") {
                self.push(line);
                self.push("");
            } else if let Some(rewritten) = callout(line) {
                self.push(&rewritten);
            } else if is_module_line(text) && indent == 0 {
                let is_whole = text.trim_end().ends_with([';', '\'', '"', ')']);
                let rest = lines.get(at..).unwrap_or_default();
                at +=
                    if is_whole { 0 } else { rest.iter().take_while(|line| !line.trim().is_empty()).count() };
                self.push("");
            } else if is_left_out(text) {
                self.push("");
            } else if let Some(next) = lines.get(at).filter(|next| needs_columns(text, next)) {
                self.push_text(line, lines.get(at..).unwrap_or_default());
                self.push(&delimiters(next, cells(text)));
                at += 1;
            } else {
                self.push_text(line, lines.get(at..).unwrap_or_default());
            }
        }
        while let Some(open) = boxes.pop() {
            self.close(&open.close, open.indent);
        }
    }

    /// Reads a line that begins with a tag of MDX or a template, and whether it does.
    fn tag_line(&mut self, line: &str, lines: &[&str], at: &mut usize, boxes: &mut Vec<OpenBox>) -> bool {
        let indent = indentation(line);
        let mut text = line.trim().to_owned();
        if tags::component(&text).is_some() && !text.contains('>') {
            let below = lines.get(*at..).unwrap_or_default().iter().take(MAX_TAG_LINES);
            let is_end = |line: &&str| line.trim_end().ends_with('>') && !line.trim_end().ends_with("=>");
            let Some(length) = below.clone().position(is_end) else { return false };
            for line in below.take(length + 1) {
                text.push(' ');
                text.push_str(line.trim());
            }
            *at += length + 1;
        }
        let Some((tag, rest)) = tags::first(&text, self.page.is_mdx) else { return false };
        match tag {
            Tag::Close(name)
                if rest.is_empty()
                    && (!tags::is_element(name) || boxes.iter().any(|open| open.name == name)) =>
            {
                self.close_box(boxes, name);
            }
            Tag::Alone(arguments) if rest.is_empty() => {
                self.push_apart(&tags::caption(arguments).unwrap_or_default(), 0);
            }
            Tag::Open(name, arguments) => {
                let end = tags::last(rest).filter(|(_, close)| *close == name);
                let is_element = tags::is_element(name) && text.starts_with('<');
                // It is a part of a line.
                if (end.is_none() && (!rest.is_empty() && rest.contains("</")))
                    || (is_element && !rest.is_empty())
                {
                    return false;
                }
                if !is_element && !self.page.closed.contains(name) {
                    if !rest.is_empty() || text.starts_with('<') {
                        return false;
                    }
                    self.push(&tags::caption(arguments).unwrap_or_default());
                    return true;
                }
                let label = match boxes.last_mut().and_then(|set| set.tabs.pop_front()) {
                    Some(tab) if tags::title(arguments).is_none() => tab,
                    _ => tags::label(name, arguments),
                };
                let close = if is_element {
                    self.push_apart(&text, indent);
                    format!("</{name}>")
                } else {
                    self.push("");
                    self.open(&label, indent)
                };
                let below = lines.get(*at..).unwrap_or_default().iter().find(|line| !line.trim().is_empty());
                let inside = below.map_or(0, |line| indentation(line));
                let above = boxes.last().map_or(0, |above| above.removed);
                let removed = if inside > above + indent { inside - indent } else { above };
                let tabs = tags::items(arguments);
                boxes.push(OpenBox { name: name.to_owned(), indent, close, removed, tabs });
                let content = end.map_or(rest, |(content, _)| content);
                if !content.is_empty() {
                    self.push_text(&format!("{}{content}", " ".repeat(indent)), &[]);
                }
                if end.is_some() {
                    self.close_box(boxes, name);
                }
            }
            _ => return false,
        }
        true
    }

    fn push_text(&mut self, line: &str, below: &[&str]) {
        let line = marks::rewritten(line, below, &mut self.open_code, &self.page);
        self.push(&line);
    }

    fn push(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn push_apart(&mut self, line: &str, indent: usize) {
        self.push("");
        self.push(&format!("{}{line}", " ".repeat(indent)));
        self.push("");
    }

    /// Opens a group with a label, and returns what closes it; without a label it opens none.
    fn open(&mut self, label: &str, indent: usize) -> String {
        if label.is_empty() {
            return String::new();
        }
        let label = label.replace(['*', '`'], "").replace('&', "&amp;").replace('<', "&lt;");
        self.push_apart(&format!("<details><summary>{label}</summary>"), indent);
        GROUP_END.to_owned()
    }

    fn close(&mut self, close: &str, indent: usize) {
        if !close.is_empty() {
            self.push_apart(close, indent);
        }
    }

    /// Closes the box with this name that was opened last, and what is open in it.
    fn close_box(&mut self, boxes: &mut Vec<OpenBox>, name: &str) {
        self.push("");
        let Some(at) = boxes.iter().rposition(|open| open.name == name) else { return };
        while boxes.len() > at
            && let Some(open) = boxes.pop()
        {
            self.close(&open.close, open.indent);
        }
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
                .take(MAX_NUMBER_LINES)
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

/// Returns whether a line ends with a colon or is bold as a whole.
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
fn indented_box(text: &str) -> Option<String> {
    let rest = ["!!! ", "???+ ", "??? "].into_iter().find_map(|mark| text.strip_prefix(mark));
    let is_tab = rest.is_none();
    let rest = rest.or_else(|| text.strip_prefix("=== ").or_else(|| text.strip_prefix("===! ")))?.trim();
    let quoted = rest.split_once('"').and_then(|(_, rest)| rest.rsplit_once('"')).map(|(title, _)| title);
    match quoted {
        Some(title) => Some(title.to_owned()),
        // "=== " alone may be an underline.
        None if is_tab => None,
        None => {
            let kind = rest.split(' ').next().filter(|kind| kind.starts_with(char::is_alphabetic))?;
            Some(tags::capitalised(kind))
        }
    }
}

/// `> [!TIP]- Title` as a quotation with a name: its title, or else its kind.
fn callout(line: &str) -> Option<String> {
    let text = line.trim_start_matches(['>', ' ', '\t']);
    let quote = line.get(..line.len() - text.len()).filter(|quote| quote.contains('>'))?;
    let (kind, rest) = text.strip_prefix("[!")?.split_once(']')?;
    let is_kind =
        !kind.is_empty() && kind.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ' ' | '|'));
    let title = rest.trim_start_matches(['+', '-']).trim().replace(['*', '`'], "").replace('<', "&lt;");
    let name = if title.is_empty() { tags::capitalised(&kind.to_lowercase()) } else { title };
    is_kind.then(|| format!("{quote}<summary>{name}</summary>\n{}", quote.trim_end()))
}

/// The beginning of an import or export of MDX.
fn is_module_line(text: &str) -> bool {
    let is_import = text.starts_with("import ")
        && (text.trim_end().ends_with(['\'', '"', '{']) || text.contains("';") || text.contains("\";"));
    is_import || (text.starts_with("export ") && text.contains(" = ")) || text.starts_with("export default ")
}

/// Lines that say something to the generator only.
fn is_left_out(text: &str) -> bool {
    let text = text.trim_end();
    let is_attribute_list = text.starts_with("{:") && text.ends_with('}');
    is_attribute_list
        || text.starts_with("--8<--")
        || text.trim_matches(['[', ']', '_']).eq_ignore_ascii_case("toc")
}

/// Returns whether a table has fewer delimiters than names of columns, which a parser does not take
/// for a table.
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

    /// The statements of a document.
    fn shown(markdown: &str) -> Vec<String> {
        crate::statement::shown(&crate::commonmark::document(markdown).unwrap())
    }

    #[test]
    fn boxes_have_the_name_that_a_reader_sees() {
        for (open, close, name) in [
            (":::danger", ":::", "Danger"),
            ("::: warning Take *care*", ":::", "Take care"),
            (":::caution[Take care]", ":::", "Take care"),
            ("::: {.callout-note title=\"Take care\"}", ":::", "Take care"),
            ("::: {.callout-warning}", ":::", "Warning"),
            (":::{warning} Take care", ":::", "Take care"),
            ("{{< hint danger >}}", "{{< /hint >}}", "Danger"),
            ("{{% alert title=\"Take care\" color=\"x\" %}}", "{{% /alert %}}", "Take care"),
            ("{{< details \"Take care\" >}}", "{{< /details >}}", "Take care"),
            ("{% hint style=\"warning\" %}", "{% endhint %}", "Warning"),
            ("{% callout type=\"warning\" %}", "{% /callout %}", "Warning"),
            ("<Warning>", "</Warning>", "Warning"),
            ("<Callout type=\"error\">", "</Callout>", "Error"),
            ("<Callout\n  title={'Take care'}\n  onClick={() => x}\n>", "</Callout>", "Take care"),
        ] {
            let document = format!("{open}\nNever **do** this.\n\nStop.\n{close}\n\nAfter.");
            assert_eq!(
                shown(&document),
                [format!("{name}: Never do this."), format!("{name}: Stop."), "After.".to_owned()],
                "{document}"
            );
        }
        assert_eq!(shown("!!! failure\n    Use eval.\n\nAfter."), ["Failure: Use eval.", "After."]);
        assert_eq!(shown("> [!WARNING]\n> - Hot\n"), ["Warning: Hot"]);
        assert_eq!(
            shown("<Warning>Never do this:</Warning>\n\n```sh\nrm\n```").last().map(String::as_str),
            Some("Never do this: rm")
        );
        assert_eq!(shown("> [!faq]- Is it free?\n> No."), ["✗ Is it free?", "Is it free? No."]);
        assert_eq!(shown("::: {.column width=\"50%\"}\nPlain.\n:::"), ["Plain."]);
        assert_eq!(
            shown("<Note>Only *here*.</Note>\n\nUse <Badge>x</Badge> now."),
            ["Note: Only here.", "Only here. Use x now."]
        );
    }

    #[test]
    fn tabs_have_their_name() {
        for document in [
            "=== \"npm\"\n\n    Run *a*.\n\n=== \"yarn\"\n\n    Run b.",
            "<Tabs>\n  <TabItem value=\"n\" label=\"npm\">\n    Run *a*.\n  </TabItem>\n  <TabItem value=\"yarn\">\n    Run b.\n  </TabItem>\n</Tabs>",
            "<Tabs items={['npm', 'yarn']}>\n  <Tabs.Tab>Run *a*.</Tabs.Tab>\n  <Tabs.Tab>\n\n  Run b.\n\n  </Tabs.Tab>\n</Tabs>",
            "{{< tabs >}}\n{{% tab \"npm\" %}}\nRun *a*.\n{{% /tab %}}\n{{< tab name=\"yarn\" >}}\nRun b.\n{{< /tab >}}\n{{< /tabs >}}",
            "{% tabs %}\n{% tab title=\"npm\" %}\nRun *a*.\n{% endtab %}\n{% tab title=\"yarn\" %}\nRun b.\n{% endtab %}\n{% endtabs %}",
        ] {
            assert_eq!(
                shown(&format!("{document}\n\nAfter.")),
                ["npm: Run a.", "yarn: Run b.", "After."],
                "{document}"
            );
        }
        assert_eq!(
            shown("::: code-group\n```sh [npm]\na\n```\n```sh [yarn]\nb\n```\n:::"),
            ["npm a", "yarn b"]
        );
        assert_eq!(
            shown(
                "Term\n:\tText.\n\n\t=== \"A\"\n\n\t    In a.\n\n1. Step\n\n    === \"B\"\n\n        In b."
            ),
            ["Term: Text.", "Term: A: In a.", "1. Step", "1. Step: B: In b."]
        );
    }

    #[test]
    fn content_of_mdx_is_markdown() {
        assert_eq!(
            shown(
                "import {\n  A,\n} from 'a'\n\nexport const b = {\n  c: 1,\n}\n\n<div className=\"x\">\n    Not **now**.\n</div>\n\
                   <details>\n<summary>Is it free?</summary>\nNo, **never**.\n</details>\n"
            ),
            ["Not now.", "✗ Is it free?", "Is it free? No, never."]
        );
    }

    #[test]
    fn marks_inside_a_line_are_what_a_reader_sees() {
        for (markdown, expected) in [
            ("Press ++ctrl+c++ in C++ and D++.", "Press Ctrl+C in C++ and D++."),
            ("^^In^^ ==marked== if a==b or c==d.", "In marked if a==b or c==d."),
            ("H~2~O, 10^6^, 5^th^, a^b^c.", "H₂O, 10⁶, 5th, a^b^c."),
            ("Get [x](y){ .button #a }.", "Get x."),
            ("Use [[1](y)] and [[2]](z).", "Use [1] and [2]."),
            ("Done :smile: %% internal %% now.", "Done now."),
            ("Call `f(a,\n{b}) ==x==` ==now==.", "Call f(a, {b}) ==x== now."),
            ("At 10:30:15 use std::x::y.", "At 10:30:15 use std::x::y."),
            ("Use `++x++`, `==` and `:x:`.", "Use ++x++, == and :x:."),
            ("Run <T> and <name>.", "Run <T> and <name>."),
        ] {
            assert_eq!(shown(markdown), [expected], "{markdown}");
        }
        assert_eq!(
            shown(
                "| Plan | SSO |\n|---|---|\n| A | :x: |\n| B | :white_check_mark: |\n| C | :material-circle: |"
            ),
            ["A – SSO: ✗", "B – SSO: ✓", "✗ C – SSO: \u{fffd}"]
        );
    }

    #[test]
    fn a_sentence_with_a_value_that_is_not_in_the_file_is_no_quote() {
        for markdown in [
            "{% if pro %}\nSSO is included.\n{% endif %}",
            "SSO {% if pro %}is{% else %}is not{% endif %} included.",
            "Click {% data variables.name %} to go on.",
            "The price is {{ price }} €.",
            "Use {{< param version >}} now.",
            "<Tabs>x</Tabs>\n\nThe price is {props.price} €.",
        ] {
            assert!(shown(markdown).last().is_some_and(|last| last.starts_with('✗')), "{markdown}");
        }
        assert_eq!(shown("Write `{{ price }}` there."), ["Write {{ price }} there."]);
        assert_eq!(
            shown("Give {cursor}.\n\n```js\nimport a from 'b'\n```").first().map(String::as_str),
            Some("Give {cursor}.")
        );
    }

    #[test]
    fn the_time_grows_with_the_length_only() {
        for part in ["<x> ", "`` ` ", "{% x ", "++a ", ":a", "{{a", "[[", "<T ", "~a~", "{/* ", "<Tab a='"] {
            let document = part.repeat(20_000);
            for document in [document.clone(), document.replace(' ', "\n")] {
                rewrite(&document);
            }
        }
        rewrite(&"<Tab>\n".repeat(20_000));
        rewrite(&":::tip\n".repeat(20_000));
        rewrite(&(0..20_000).map(|at| format!("{}. x\n", 2 * at)).collect::<String>());
    }

    /// Lines that are not blank.
    fn lines(document: &str) -> Vec<String> {
        rewrite(document).0.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
    }

    #[test]
    fn tags_of_templates_disappear_and_their_content_stays() {
        assert_eq!(lines("{% raw %}\nKept\n{% endraw %}"), ["Kept"]);
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
        let code = "```\n:::tip\n!!! note\n{% x %}\n{/* x */} ==x== :x:\n```";
        assert_eq!(lines(code), code.lines().collect::<Vec<_>>());
    }

    #[test]
    fn a_delimiter_row_with_a_cell_too_few_is_completed() {
        assert_eq!(lines("| a | b |\n|---|\n| 1 | 2 |"), ["| a | b |", "|---|---|", "| 1 | 2 |"]);
    }
}
