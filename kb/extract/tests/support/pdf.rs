//! Writes PDFs, object by object.

use std::fmt::Write as _;

/// Objects by number, from 1; 1 is the catalog, 2 the page tree, 3 the font.
pub(crate) struct Pdf {
    objects: Vec<Vec<u8>>,
    pages: Vec<usize>,
}

impl Pdf {
    pub(crate) fn new() -> Self {
        let font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>";
        Self { objects: vec![Vec::new(), Vec::new(), font.into()], pages: Vec::new() }
    }

    /// The number of the object.
    pub(crate) fn add(&mut self, object: impl Into<Vec<u8>>) -> usize {
        self.objects.push(object.into());
        self.objects.len()
    }

    pub(crate) fn add_stream(&mut self, entries: &str, data: &[u8]) -> usize {
        let head = format!("<< {entries} /Length {} >>\nstream\n", data.len());
        self.add([head.as_bytes(), data, b"\nendstream"].concat())
    }

    /// A page with these operators; the font is /F, other entries as given.
    pub(crate) fn page(&mut self, entries: &str, operators: &str) -> usize {
        let content = self.add_stream("", operators.as_bytes());
        self.page_with(entries, content)
    }

    pub(crate) fn page_with(&mut self, entries: &str, content: usize) -> usize {
        let resources = "/Resources << /Font << /F 3 0 R >> >>";
        let resources = if entries.contains("/Resources") { "" } else { resources };
        let size = if entries.contains("/MediaBox") { "" } else { "/MediaBox [0 0 600 800]" };
        let page = self.add(format!(
            "<< /Type /Page /Parent 2 0 R {size} /Contents {content} 0 R {resources} {entries} >>"
        ));
        self.pages.push(page);
        page
    }

    pub(crate) fn replace(&mut self, number: usize, object: impl Into<Vec<u8>>) {
        self.objects[number - 1] = object.into();
    }

    /// The file, with additional entries of the catalog.
    pub(crate) fn finish(mut self, catalog: &str) -> Vec<u8> {
        if self.objects[0].is_empty() {
            self.objects[0] = format!("<< /Type /Catalog /Pages 2 0 R {catalog} >>").into();
        }
        if self.objects[1].is_empty() {
            let kids: Vec<String> = self.pages.iter().map(|page| format!("{page} 0 R")).collect();
            self.objects[1] =
                format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), kids.len()).into();
        }
        let mut file = b"%PDF-1.7\n".to_vec();
        let mut xref = format!("xref\n0 {}\n0000000000 65535 f \n", self.objects.len() + 1);
        for (at, object) in self.objects.iter().enumerate() {
            let _ = writeln!(xref, "{:010} 00000 n ", file.len());
            file.extend(format!("{} 0 obj\n", at + 1).bytes());
            file.extend(object);
            file.extend(b"\nendobj\n");
        }
        let start = file.len();
        let size = self.objects.len() + 1;
        file.extend(
            format!("{xref}trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n").bytes(),
        );
        file
    }
}

/// Operators that show lines of `size` points, the first at `y`, from top to bottom.
pub(crate) fn lines(size: f64, x: f64, y: f64, lines: &[&str]) -> String {
    let mut operators = format!("BT /F {size} Tf {} TL {x} {y} Td\n", size * 1.2);
    for line in lines {
        let escaped: String = line.replace('\\', "\\\\").replace('(', "\\(").replace(')', "\\)");
        let _ = writeln!(operators, "({escaped}) Tj T*");
    }
    operators + "ET\n"
}

/// A document of one page with one line.
pub(crate) fn simple(text: &str) -> Vec<u8> {
    let mut pdf = Pdf::new();
    pdf.page("", &lines(12.0, 50.0, 700.0, &[text]));
    pdf.finish("")
}
