//! The plot of search time and recall over the size of the knowledge base.

use std::fmt::Write;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

const WIDTH: f64 = 440.0;
const HEIGHT: f64 = 220.0;
const LEFT: f64 = 64.0;
/// Space above each chart, for its title.
const ABOVE: f64 = 44.0;

/// A line of a chart.
struct Series {
    name: &'static str,
    path: &'static str,
    color: &'static str,
}

/// Two charts over the number of passages, on a logarithmic axis: the time of one caller, and the recall.
pub(super) fn draw(native: &Value) -> Result<String> {
    let sizes = native["sizes"].as_array().context("no sizes")?;
    ensure!(sizes.len() > 1, "a plot needs at least two sizes, as in --native 10000,100000,1000000");
    let time = [
        Series { name: "p95", path: "/with_text_ms/p95", color: "#c2410c" },
        Series { name: "p50", path: "/with_text_ms/p50", color: "#1d4ed8" },
    ];
    let recall = [
        Series { name: "with words", path: "/recall_5", color: "#1d4ed8" },
        Series { name: "vector only", path: "/vector_recall_5", color: "#c2410c" },
    ];
    let (width, height) = (LEFT + WIDTH + 100.0, 2.0 * (ABOVE + HEIGHT) + 60.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"12\" fill=\"#333\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    let slowest = values(sizes, time[0].path)?.iter().fold(0.0_f64, |most, (_, value)| most.max(*value));
    // A round number above the slowest search, so that the ticks are round too.
    let top = (slowest / 25.0).ceil() * 25.0;
    chart(&mut svg, ABOVE, "milliseconds of a search, one caller", (0.0, top), 0, &time, sizes)?;
    let below = 2.0 * ABOVE + HEIGHT + 20.0;
    chart(&mut svg, below, "share of the five best passages that are found", (0.9, 1.0), 2, &recall, sizes)?;
    Ok(svg + "</svg>\n")
}

fn chart(
    svg: &mut String,
    top: f64,
    title: &str,
    (least, most): (f64, f64),
    decimals: usize,
    lines: &[Series],
    sizes: &[Value],
) -> Result<()> {
    let all = values(sizes, "/chunks")?;
    let first = all.iter().map(|(chunks, _)| chunks.log10()).fold(f64::INFINITY, f64::min);
    let last = all.iter().map(|(chunks, _)| chunks.log10()).fold(0.0, f64::max);
    let x = |chunks: f64| LEFT + (chunks.log10() - first) / (last - first) * WIDTH;
    let y = |value: f64| top + (1.0 - (value.clamp(least, most) - least) / (most - least)) * HEIGHT;
    text(svg, LEFT, top - 14.0, "start", title);
    for tick in 0..=5 {
        let value = least + f64::from(tick) / 5.0 * (most - least);
        let at = y(value);
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(
            svg,
            "<line x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{:.1}\" y2=\"{at:.1}\" stroke=\"#ddd\"/>",
            LEFT + WIDTH
        );
        text(svg, LEFT - 8.0, at + 4.0, "end", &format!("{value:.decimals$}"));
    }
    for (chunks, _) in &all {
        text(svg, x(*chunks), top + HEIGHT + 18.0, "middle", &format!("{:.0}k", chunks / 1000.0));
    }
    for line in lines {
        let points = values(sizes, line.path)?;
        let path: String =
            points.iter().map(|(chunks, value)| format!("{:.1},{:.1} ", x(*chunks), y(*value))).collect();
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>",
            path.trim_end(),
            line.color
        );
        for (chunks, value) in &points {
            let _ = writeln!(
                svg,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\" fill=\"{}\"/>",
                x(*chunks),
                y(*value),
                line.color
            );
        }
        if let Some((chunks, value)) = points.last() {
            text(svg, x(*chunks) + 10.0, y(*value) + 4.0, "start", line.name);
        }
    }
    Ok(())
}

fn text(svg: &mut String, x: f64, y: f64, anchor: &str, words: &str) {
    let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>");
}

/// The number of passages and the figure, for each size.
fn values(sizes: &[Value], path: &str) -> Result<Vec<(f64, f64)>> {
    sizes
        .iter()
        .map(|size| {
            let number =
                |path: &str| size.pointer(path).and_then(Value::as_f64).with_context(|| format!("no {path}"));
            Ok((number("/chunks")?, number(path)?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::draw;

    fn size(chunks: u32, p50: f64, p95: f64, recall: f64) -> serde_json::Value {
        json!({ "chunks": chunks, "with_text_ms": { "p50": p50, "p95": p95 }, "recall_5": recall, "vector_recall_5": recall })
    }

    #[test]
    fn draws_a_point_for_each_size_and_line() {
        let svg =
            draw(&json!({ "sizes": [size(10_000, 4.0, 9.0, 1.0), size(100_000, 6.0, 20.0, 0.97)] })).unwrap();
        assert_eq!(svg.matches("<circle").count(), 8);
        // 20 ms of at most 25 ms.
        assert!(svg.contains("<circle cx=\"504.0\" cy=\"88.0\""), "{svg}");
    }

    #[test]
    fn rejects_a_single_size() {
        assert!(draw(&json!({ "sizes": [size(10_000, 4.0, 9.0, 1.0)] })).is_err());
    }
}
