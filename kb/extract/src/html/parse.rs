//! Parses a page, and refuses extremely deep nesting, because the HTML parsing algorithm takes quadratic time in the depth.

use std::collections::HashMap;

use ego_tree::{NodeId, NodeRef};
use html5ever::{driver, tendril::TendrilSink};
use scraper::{Html, HtmlTreeSink, Node};

use crate::ExtractError;

/// Maximum depth; browsers limit it to 512.
const MAX_DEPTH: usize = 2_500;
/// Bytes that are parsed between two checks of the depth.
const STEP_BYTES: usize = 16 * 1024;

/// Parses step by step and measures the tree after each step. Counting tags before would not do: comments, attributes and end
/// tags that the algorithm ignores make any count differ from the depth of the tree.
pub(super) fn parse(document: &str) -> Result<Html, ExtractError> {
    let sink = HtmlTreeSink::new(Html::new_document());
    let mut parser = driver::parse_document(sink, driver::ParseOpts::default());
    let mut depths = Depths::default();
    let mut rest = document;
    while !rest.is_empty() {
        let (step, after) = rest.split_at(rest.floor_char_boundary(STEP_BYTES));
        parser.process(step.into());
        rest = after;
        if depths.measure(&parser.tokenizer.sink.sink.0.borrow()) > MAX_DEPTH {
            return Err(ExtractError::Broken(format!("it nests elements more than {MAX_DEPTH} deep")));
        }
    }
    Ok(parser.finish())
}

/// The depths of the elements that were measured.
#[derive(Default)]
struct Depths {
    known: HashMap<NodeId, usize>,
    nodes: usize,
}

impl Depths {
    /// The maximum depth of the nodes that were added since the last call.
    fn measure(&mut self, html: &Html) -> usize {
        let nodes = html.tree.nodes();
        let new = nodes.len().saturating_sub(self.nodes);
        self.nodes = nodes.len();
        let mut new: Vec<NodeRef<'_, Node>> =
            nodes.rev().take(new).filter(|node| node.value().is_element()).collect();
        new.reverse();
        new.into_iter().map(|node| self.depth(node)).max().unwrap_or_default()
    }

    fn depth(&mut self, node: NodeRef<'_, Node>) -> usize {
        let mut unknown = vec![node.id()];
        let mut depth = 0;
        for above in node.ancestors() {
            if let Some(known) = self.known.get(&above.id()) {
                depth = *known;
                break;
            }
            unknown.push(above.id());
        }
        for id in unknown.into_iter().rev() {
            depth += 1;
            self.known.insert(id, depth);
        }
        depth
    }
}
