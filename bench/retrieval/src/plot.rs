//! The calibration plot: does a confidence of 0.8 mean that 8 of 10 such questions can be answered?

use std::fmt::Write;

use chat_core::evidence::{DEFAULT_CONFIDENCE, assess};

use crate::results::{Found, Results};

const BINS: usize = 10;
const SIDE: f64 = 400.0;
const MARGIN: f64 = 56.0;
const HISTOGRAM: f64 = 90.0;

#[derive(Clone, Copy, Default)]
struct Bin {
    answerable: usize,
    off_topic: usize,
    confidence: f64,
}

/// An SVG of all sets together. Top: the share of answerable questions over the confidence; bottom: the number of questions of
/// each kind.
pub(crate) fn calibration(sets: &[Results]) -> String {
    let mut bins = [Bin::default(); BINS];
    for set in sets {
        count(&mut bins, &set.answerable, |bin| &mut bin.answerable);
        count(&mut bins, &set.off_topic, |bin| &mut bin.off_topic);
    }
    draw(&bins)
}

fn count(bins: &mut [Bin; BINS], found: &[Found], kind: impl Fn(&mut Bin) -> &mut usize) {
    for found in found {
        let confidence = assess(&found.question, &found.rows, &found.thresholds()).confidence;
        let bin = &mut bins[((confidence * BINS as f64) as usize).min(BINS - 1)];
        bin.confidence += confidence;
        *kind(bin) += 1;
    }
}

fn draw(bins: &[Bin; BINS]) -> String {
    let x = |share: f64| MARGIN + share * SIDE;
    let y = |share: f64| 24.0 + (1.0 - share) * SIDE;
    let (width, height) = (SIDE + MARGIN + 24.0, SIDE + HISTOGRAM + 120.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"12\" fill=\"#333\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    let mut line = |x1: f64, y1: f64, x2: f64, y2: f64, style: &str| {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(svg, "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" {style}/>");
    };
    for tick in 0..=5 {
        let share = f64::from(tick) / 5.0;
        line(x(0.0), y(share), x(1.0), y(share), "stroke=\"#eee\"");
        line(x(share), y(0.0), x(share), y(1.0), "stroke=\"#eee\"");
    }
    line(x(0.0), y(0.0), x(1.0), y(1.0), "stroke=\"#aaa\" stroke-dasharray=\"4\"");
    line(
        x(DEFAULT_CONFIDENCE),
        y(0.0),
        x(DEFAULT_CONFIDENCE),
        y(1.0),
        "stroke=\"#c2410c\" stroke-dasharray=\"2\"",
    );
    let mut text = |x: f64, y: f64, anchor: &str, words: &str| {
        let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>");
    };
    for tick in 0..=5 {
        let share = f64::from(tick) / 5.0;
        text(x(share), y(0.0) + 18.0, "middle", &format!("{share:.1}"));
        text(x(0.0) - 8.0, y(share) + 4.0, "end", &format!("{share:.1}"));
    }
    text(x(0.5), y(0.0) + 36.0, "middle", "confidence");
    text(x(0.0) + 6.0, y(1.0) - 8.0, "start", "share of questions that the knowledge base answers");
    text(x(DEFAULT_CONFIDENCE) + 5.0, y(0.04), "start", "answered from here");
    histogram(&mut svg, bins, x, y(0.0) + 60.0);
    let mut points = String::new();
    for bin in bins.iter().filter(|bin| bin.total() > 0) {
        let total = bin.total() as f64;
        let (at, share) = (x(bin.confidence / total), y(bin.answerable as f64 / total));
        let _ = write!(points, "{at:.1},{share:.1} ");
        let _ = writeln!(svg, "<circle cx=\"{at:.1}\" cy=\"{share:.1}\" r=\"4\" fill=\"#1d4ed8\"/>");
    }
    let _ = writeln!(
        svg,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"#1d4ed8\" stroke-width=\"2\"/>",
        points.trim()
    );
    svg + "</svg>\n"
}

/// Two bars for each bin, on a logarithmic scale.
fn histogram(svg: &mut String, bins: &[Bin; BINS], x: impl Fn(f64) -> f64, top: f64) {
    let most = bins.iter().flat_map(|bin| [bin.answerable, bin.off_topic]).max().unwrap_or(1).max(1);
    let height = |count: usize| HISTOGRAM * (1.0 + count as f64).ln() / (1.0 + most as f64).ln();
    let bar_width = SIDE / BINS as f64 * 0.4;
    for (number, bin) in bins.iter().enumerate() {
        let left = x(number as f64 / BINS as f64) + bar_width * 0.25;
        for (offset, count, color) in
            [(0.0, bin.answerable, "#1d4ed8"), (bar_width, bin.off_topic, "#9ca3af")]
        {
            let (left, height) = (left + offset, height(count));
            let y = top + HISTOGRAM - height;
            let _ = writeln!(
                svg,
                "<rect x=\"{left:.1}\" y=\"{y:.1}\" width=\"{bar_width:.1}\" height=\"{height:.1}\" fill=\"{color}\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"9\">{count}</text>",
                left + bar_width / 2.0,
                y - 2.0
            );
        }
    }
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\"><tspan fill=\"#1d4ed8\">answerable</tspan> and \
         <tspan fill=\"#6b7280\">off-topic</tspan> questions of each confidence</text>",
        x(0.5),
        top + HISTOGRAM + 20.0
    );
}

impl Bin {
    fn total(&self) -> usize {
        self.answerable + self.off_topic
    }
}
