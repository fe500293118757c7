//! A folder of hostile files, with the expected result of each.

use std::{fs, io, path::Path};

use super::{oversized, pdf, zip};

/// A file of the folder.
pub(crate) struct Hostile {
    /// Bytes, because not every name is valid Unicode.
    pub(crate) name: Vec<u8>,
    pub(crate) kind: Kind,
    pub(crate) expected: Expected,
    /// A question that the file answers with its expected text.
    pub(crate) question: Option<&'static str>,
}

pub(crate) enum Kind {
    Content(Vec<u8>),
    /// A sparse file of this length.
    Sparse(u64),
    Directory,
    LinkTo(&'static str),
    NamedPipe,
}

/// The expected result of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    /// Its text contains this.
    Text(&'static str),
    /// Its error contains this.
    Error(&'static str),
    /// Text or an error, quickly.
    Either,
    /// In no supported format.
    Unknown,
}

use Expected::{Either, Error, Text, Unknown};

const GOOD: &str = "Refunds take 30 days.";

/// The list. All files are quick to generate.
pub(crate) fn files() -> Vec<Hostile> {
    let mut files = Vec::new();
    let mut add = |name: &str, content: Vec<u8>, expected| {
        let kind = Kind::Content(content);
        files.push(Hostile { name: name.into(), kind, expected, question: None });
    };
    encodings(&mut add);
    markdown(&mut add);
    html(&mut add);
    pdfs(&mut add);
    word(&mut add);
    tables(&mut add);
    wrong_names(&mut add);
    for (name, content, expected) in names() {
        files.push(Hostile { name, kind: Kind::Content(content.into()), expected, question: None });
    }
    for oversized::Oversized { name, content, question, answer } in oversized::files() {
        let kind = Kind::Content(content.into());
        files.push(Hostile { name: name.into(), kind, expected: Text(answer), question: Some(question) });
    }
    let mut special = |name: &str, kind, expected| {
        files.push(Hostile { name: name.into(), kind, expected, question: None });
    };
    special("sparse-1-gb.txt", Kind::Sparse(1 << 30), Error("is larger than 50 MB"));
    special("sparse-51-mb.pdf", Kind::Sparse(51 * 1024 * 1024), Error("is larger than 50 MB"));
    special("directory.md", Kind::Directory, Error("is not a regular file"));
    if cfg!(unix) {
        special("link-to-itself.md", Kind::LinkTo("link-to-itself.md"), Error("cannot be read"));
        special("link-to-parent", Kind::LinkTo(".."), Unknown);
        special("link-to-nothing.md", Kind::LinkTo("nowhere"), Error("cannot be read"));
        special("link-to-endless.md", Kind::LinkTo("/dev/zero"), Error("is not a regular file"));
        special("pipe.md", Kind::NamedPipe, Error("is not a regular file"));
    }
    files
}

/// Writes the folder, without names that this file system does not support.
pub(crate) fn write(folder: &Path) -> Vec<Hostile> {
    files().into_iter().filter(|file| write_one(folder, file).is_ok()).collect()
}

/// The name as a path.
pub(crate) fn path(name: &[u8]) -> std::path::PathBuf {
    #[cfg(unix)]
    return <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(name).into();
    #[cfg(not(unix))]
    String::from_utf8_lossy(name).into_owned().into()
}

fn write_one(folder: &Path, file: &Hostile) -> io::Result<()> {
    let path = folder.join(path(&file.name));
    match &file.kind {
        Kind::Content(content) => fs::write(path, content),
        Kind::Sparse(length) => fs::File::create(path)?.set_len(*length),
        Kind::Directory => fs::create_dir(path),
        #[cfg(unix)]
        Kind::LinkTo(target) => std::os::unix::fs::symlink(target, path),
        #[cfg(not(unix))]
        Kind::LinkTo(_) => Err(io::ErrorKind::Unsupported.into()),
        Kind::NamedPipe => {
            let made = std::process::Command::new("mkfifo").arg("--").arg(path).status()?;
            if made.success() { Ok(()) } else { Err(io::ErrorKind::Unsupported.into()) }
        }
    }
}

type Add<'a> = &'a mut dyn FnMut(&str, Vec<u8>, Expected);

fn encodings(add: Add<'_>) {
    let utf16 =
        |text: &str, order: fn(u16) -> [u8; 2]| -> Vec<u8> { text.encode_utf16().flat_map(order).collect() };
    add("utf-16-le.md", utf16("\u{feff}# Größe\n\nRefunds take 30 days.", u16::to_le_bytes), Text(GOOD));
    add("utf-16-be.txt", utf16("\u{feff}Refunds take 30 days.", u16::to_be_bytes), Text(GOOD));
    add("utf-16-without-mark.txt", utf16("Refunds", u16::to_le_bytes), Error("zero bytes"));
    let lone =
        [utf16("\u{feff}Refunds take 30 days.", u16::to_le_bytes), vec![0x00, 0xd8, 0x20, 0x00]].concat();
    add("lone-surrogate.md", lone, Text(GOOD));
    add("utf-8-mark.md", "\u{feff}Refunds take 30 days.".into(), Text(GOOD));
    add(
        "latin-1.txt",
        b"F\xfcr R\xfcckgaben gelten drei\xdfig Tage.".to_vec(),
        Text("Für Rückgaben gelten dreißig"),
    );
    let japanese = b"\x95\xd4\x95i\x82\xcd\x8eO\x8f\\\x93\xfa\x88\xc8\x93\xe0\x82\xc9\x82\xa8\x8a\xe8\x82\xa2\x82\xb5\x82\xdc\x82\xb7\x81B";
    add("shift-jis.txt", japanese.to_vec(), Text("返品は三十日以内に"));
    add("overlong-utf-8.txt", b"Refunds take 30 days. \xc0\xaf\xc0\xae\xe0\x80\xaf".to_vec(), Text(GOOD));
    add("surrogates-in-utf-8.md", b"Refunds take 30 days. \xed\xa0\x80\xed\xb0\x80".to_vec(), Text(GOOD));
    add("zero-bytes.txt", b"Refunds\0take 30 days.".to_vec(), Error("zero bytes"));
    add("zero-bytes.html", b"<p>Refunds\0take".to_vec(), Error("zero bytes"));
    add("only-zero-bytes.csv", vec![0; 100_000], Error("zero bytes"));
    add("only-mark.md", "\u{feff}".into(), Error("is empty"));
    add("only-space.txt", " \t\r\n\u{a0}\u{2003}\n".into(), Error("is empty"));
    add("empty.md", Vec::new(), Error("is empty"));
    add("carriage-returns.md", b"# A\r\rRefunds take 30 days.\r".to_vec(), Text(GOOD));
    add("one-line-of-1-mb.txt", format!("{GOOD} ").repeat(50_000).into(), Text(GOOD));
    add("no-space-in-1-mb.md", "x".repeat(1 << 20).into(), Text("xxxx"));
    add(
        "random.txt",
        (0..100_000u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8 | 1).collect(),
        Either,
    );
}

fn markdown(add: Add<'_>) {
    add("quotes-in-quotes.md", format!("{} deep", "> ".repeat(100_000)).into(), Text("deep"));
    add("lists-in-lists.md", format!("{}deep", "- ".repeat(50_000)).into(), Text("deep"));
    add("brackets.md", "[".repeat(100_000).into(), Text("[[["));
    add("links-in-links.md", "[a](".repeat(50_000).into(), Text("[a]("));
    add("stars.md", "*a **b ".repeat(50_000).into(), Text("*a **b"));
    add("ticks.md", (1..400).map(|n| "`".repeat(n) + "a").collect::<String>().into(), Text("`a"));
    add(
        "tables.md",
        format!("{}\n{}\n{}", "|a".repeat(5_000), "|-".repeat(5_000), "|\n".repeat(5_000)).into(),
        Text("a\ta"),
    );
    add("html-blocks.md", "<!--\n\n".repeat(50_000).into(), Either);
    let mut bomb = "---\na0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for at in 1..30 {
        bomb += &format!("a{at}: &a{at} [{}]\n", [format!("*a{}", at - 1).as_str(); 9].join(", "));
    }
    add("yaml-bomb.md", format!("{bomb}---\n{GOOD}\n").into(), Error("front matter"));
    add(
        "broken-front-matter.md",
        format!("---\ntitle: 'open\n---\n\n{GOOD}\n").into(),
        Error("front matter"),
    );
    add(
        "unclear-audience.md",
        format!("---\naudience: sales\n---\n\n{GOOD}\n").into(),
        Error("audience: team:sales"),
    );
    add("only-headings.md", "# A\n\n## B\n".into(), Error("no text except headings"));
}

fn html(add: Add<'_>) {
    let scripts = "<script>alert(1)</script><p onclick=alert(2)>Refunds take 30 days.</p><svg onload=x>x</svg><iframe src=//a>";
    add("scripts.html", scripts.into(), Text(GOOD));
    add("never-closed.html", "<p>Refunds take 30 days.<div><table><b><i><a href='".into(), Text(GOOD));
    add(
        "nested-100000.html",
        format!("<p>{GOOD}</p>{}", "<div>".repeat(100_000)).into(),
        Error("nests elements more than"),
    );
    add(
        "formatting-100000.html",
        format!("<p>{GOOD}</p>{}", "<b><i>x".repeat(50_000)).into(),
        Error("nests elements more than"),
    );
    add(
        "tables-in-tables.html",
        format!("<p>{GOOD}</p>{}", "<table><tr><td>".repeat(500)).into(),
        Text(GOOD),
    );
    add("huge-attribute.html", format!("<p title='{}'>{GOOD}", "x".repeat(5 << 20)).into(), Text(GOOD));
    let attributes: String = (0..20_000).map(|at| format!("a{at}=x ")).collect();
    add("many-attributes.html", format!("<p {attributes}>{GOOD}").into(), Text(GOOD));
    add(
        "entities.html",
        format!("<p>{GOOD}{}", "&amp;&#x110000;&#0;&nope;".repeat(10_000)).into(),
        Text(GOOD),
    );
    add(
        "wide-cells.html",
        format!("<p>{GOOD}<table><tr><td colspan=99999999 rowspan=99999999>x</table>").into(),
        Text(GOOD),
    );
    add("lies-about-charset.html", format!("<meta charset=utf-16><p>{GOOD}").into(), Text(GOOD));
    add(
        "only-scripts.html",
        "<script>app()</script><noscript>Enable it</noscript>".into(),
        Error("is empty"),
    );
}

fn pdfs(add: Add<'_>) {
    let good = pdf::simple(GOOD);
    let as_text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let replaced = |from: &str, to: &str| as_text(&pdf::simple(GOOD)).replace(from, to).into_bytes();
    add("broken-xref.pdf", replaced("0000000", "9999999"), Text(GOOD));
    add("no-xref.pdf", replaced("startxref", "startnone"), Text(GOOD));
    add("endless-xref.pdf", replaced("/Size 6", "/Size 6 /Prev 0 /XRefStm 9"), Either);
    add("truncated.pdf", good[..good.len() / 2].to_vec(), Either);
    add("only-header.pdf", b"%PDF-1.7\n".to_vec(), Error("is broken"));
    add("huge-length.pdf", replaced("/Length 6", "/Length 999999996"), Either);
    add("negative-length.pdf", replaced("/Length 6", "/Length -6"), Either);
    add("huge-page.pdf", replaced("[0 0 600 800]", "[0 0 1e30 99999999999999999999]"), Either);
    add("page-inside-out.pdf", replaced("[0 0 600 800]", "[600 800 0 0]"), Text(GOOD));
    add("deep-arrays.pdf", replaced("/F 3 0 R", &format!("/F 3 0 R /X {}", "[".repeat(100_000))), Either);
    add("encrypted.pdf", encrypted("secret"), Error("is protected by a password"));
    add("empty-password.pdf", encrypted(""), Text(GOOD));
    add("no-pages.pdf", pdf::Pdf::new().finish(""), Error("is broken"));

    let mut cyclic = pdf::Pdf::new();
    let page = cyclic.page("", &pdf::lines(12.0, 50.0, 700.0, &[GOOD]));
    cyclic.replace(2, format!("<< /Type /Pages /Kids [2 0 R {page} 0 R 2 0 R] /Count 99 >>"));
    add("cyclic-pages.pdf", cyclic.finish(""), Text(GOOD));

    let mut streams = pdf::Pdf::new();
    streams.page("", &pdf::lines(12.0, 50.0, 700.0, &[GOOD]));
    let number = streams.add("");
    streams.replace(number, format!("<< /Type /ObjStm /N 1 /First 4 /Extends {number} 0 R /Length {number} 0 R >>\nstream\n7 0 [{number} 0 R]\nendstream"));
    add("cyclic-object-stream.pdf", streams.finish(&format!("/Outlines {number} 0 R")), Text(GOOD));

    let mut bookmarks = pdf::Pdf::new();
    let page = bookmarks.page("", &pdf::lines(12.0, 50.0, 700.0, &[GOOD]));
    let item = bookmarks.add("");
    bookmarks
        .replace(item, format!("<< /Title (Loop) /Dest [{page} 0 R] /Next {item} 0 R /First {item} 0 R >>"));
    add("cyclic-bookmarks.pdf", bookmarks.finish(&format!("/Outlines << /First {item} 0 R >>")), Text(GOOD));

    let mut forms = pdf::Pdf::new();
    let form = forms.add("");
    forms.replace(form, format!("<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X {form} 0 R >> >> /Length 4 >>\nstream\n/X Do\nendstream"));
    let resources = format!("/Resources << /Font << /F 3 0 R >> /XObject << /X {form} 0 R >> >>");
    forms.page(&resources, &format!("{}/X Do", pdf::lines(12.0, 50.0, 700.0, &[GOOD])));
    add("form-in-itself.pdf", forms.finish(""), Text(GOOD));

    let mut bomb = pdf::Pdf::new();
    let zlib = [&b"\x78\xda"[..], &zip::deflated(&[b' '; 1 << 20], 4_000)].concat();
    let content = bomb.add_stream("/Filter /FlateDecode", &zlib);
    bomb.page_with("", content);
    add("unpacks-to-4-gb.pdf", bomb.finish(""), Error("needs more memory"));

    let mut scan = pdf::Pdf::new();
    let image = scan.add_stream(
        "/Type /XObject /Subtype /Image /Width 1 /Height 1 /BitsPerComponent 8 /ColorSpace /DeviceGray",
        b"x",
    );
    scan.page(&format!("/Resources << /XObject << /I {image} 0 R >> >>"), "q 600 0 0 800 0 0 cm /I Do Q");
    add("scan.pdf", scan.finish(""), Error("run OCR over it first"));
}

/// Encrypted with RC4, as most encrypted files still are.
fn encrypted(user_password: &str) -> Vec<u8> {
    use lopdf::{EncryptionState, EncryptionVersion, Permissions};
    let mut document = lopdf::Document::load_mem(&pdf::simple(GOOD)).unwrap();
    let id = lopdf::Object::string_literal("0123456789abcdef");
    document.trailer.set("ID", lopdf::Object::Array(vec![id.clone(), id]));
    let version = EncryptionVersion::V2 {
        document: &document,
        owner_password: "owner",
        user_password,
        key_length: 128,
        permissions: Permissions::all(),
    };
    let state = EncryptionState::try_from(version).unwrap();
    document.encrypt(&state).unwrap();
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).unwrap();
    bytes
}

fn word(add: Add<'_>) {
    let document = |text: &str| {
        format!("<w:document><w:body><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:body></w:document>")
    };
    let good = document(GOOD);
    add(
        "bomb-of-10-gb.docx",
        zip::archive(&[("word/document.xml", 8, zip::deflated_zeros(10_000), 4_000_000_000)]),
        Error("decompresses to more than"),
    );
    add(
        "bomb-that-lies.docx",
        zip::archive(&[("word/document.xml", 8, zip::deflated_zeros(10_000), 1000)]),
        Error("is broken"),
    );
    let with_bomb = zip::archive(&[
        ("word/document.xml", 0, good.clone().into(), good.len() as u32),
        ("word/media/image1.png", 8, zip::deflated_zeros(10_000), 1000),
    ]);
    add("bomb-next-to-the-text.docx", with_bomb, Text(GOOD));
    let mut laughs = "<!DOCTYPE d [<!ENTITY a0 'lol'>".to_owned();
    for at in 1..30 {
        laughs += &format!("<!ENTITY a{at} '{}'>", format!("&a{};", at - 1).repeat(10));
    }
    let laughs = format!("{laughs}]>{}", document(&format!("{GOOD}&a29;")));
    add("billion-laughs.docx", zip::stored(&[("word/document.xml", laughs.as_bytes())]), Text(GOOD));
    let outside = "<!DOCTYPE d [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>".to_owned()
        + &document(&format!("{GOOD}&x;"));
    add("outside-entity.docx", zip::stored(&[("word/document.xml", outside.as_bytes())]), Text(GOOD));
    let tricks: [(&str, &[u8]); 3] =
        [("../../../../tmp/evil", b"x"), ("/etc/passwd", b"x"), ("word/document.xml", good.as_bytes())];
    add("paths.docx", zip::stored(&tricks), Text(GOOD));
    let deep = document(&format!("{}{GOOD}", "<w:sdt>".repeat(100_000)));
    add("never-closed.docx", zip::stored(&[("word/document.xml", deep.as_bytes())]), Error("is broken"));
    let whole = zip::stored(&[("word/document.xml", good.as_bytes())]);
    add("truncated.docx", whole[..whole.len() - 30].to_vec(), Error("is broken"));
    let many: Vec<(String, &[u8])> = (0..30_000).map(|at| (format!("a{at}"), &b""[..])).collect();
    let many: Vec<(&str, &[u8])> = many.iter().map(|(name, data)| (name.as_str(), *data)).collect();
    add("30000-parts.docx", zip::stored(&many), Error("more than 20000 files"));
    add("workbook.docx", zip::stored(&[("xl/workbook.xml", b"<x/>")]), Error("is an Excel workbook"));
    let ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".iter().copied().chain([0; 2000]).collect::<Vec<u8>>();
    add("old.docx", ole.clone(), Error("is an old Office document"));
    let package: Vec<u8> = "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect();
    add("encrypted.docx", [ole, package].concat(), Error("is protected by a password"));
}

fn tables(add: Add<'_>) {
    let open = format!("a,b\n1,\"{}", "line of text\n".repeat(900_000));
    add("open-quote-in-11-mb.csv", open.into(), Error("the quotation mark in line 2 is never closed"));
    add("ragged.csv", "a,b\n1\n1,2,3\nRefunds take 30 days.,x\n".into(), Text(GOOD));
    add(
        "million-rows.csv",
        format!("a\n{}", "1\n".repeat(1_000_000)).into(),
        Error("contains more than 200000 rows"),
    );
    add(
        "100000-columns.csv",
        format!("{}\n{}", "a,".repeat(100_000), "1,".repeat(100_000)).into(),
        Text("a\ta"),
    );
    add("formulas.csv", "a,b\n=cmd|' /C calc'!A0,Refunds take 30 days.\n".into(), Text(GOOD));
}

fn wrong_names(add: Add<'_>) {
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01".to_vec();
    add("really-a-pdf.md", pdf::simple(GOOD), Error("is a PDF, not Markdown"));
    add("really-a-png.pdf", png.clone(), Error("is a PNG image, not a PDF"));
    add("really-a-png.html", png, Error("is a PNG image, not a web page"));
    add(
        "really-a-zip.docx",
        zip::stored(&[("a.txt", b"hello")]),
        Error("is a ZIP archive, not a Word document"),
    );
    add("really-a-zip.txt", zip::stored(&[("a.txt", b"hello")]), Error("is a ZIP archive, not plain text"));
    add("really-text.pdf", GOOD.into(), Error("is not a PDF"));
    add("really-rtf.docx", b"{\\rtf1 Refunds}".to_vec(), Error("is an RTF document"));
    add("program.csv", [&b"\x7fELF\x02\x01\x01"[..], &[0; 600]].concat(), Error("not a CSV file"));
    add("no-format.xyz", GOOD.into(), Unknown);
}

fn names() -> Vec<(Vec<u8>, &'static str, Expected)> {
    let long = format!("{}.md", "n".repeat(250));
    let good: [&[u8]; 14] = [
        b"..%2f..%2fetc%2fpasswd.md",
        b"line\nbreak.md",
        b"quote's \"and\" `tick`.md",
        "right\u{202e}dm.exe.md".as_bytes(),
        long.as_bytes(),
        b"con.md",
        b"-rf.md",
        "😀.md".as_bytes(),
        b"back\\slash.md",
        b"$(reboot);&.md",
        b" space .md",
        b"percent%00.md",
        b"UPPER.MD",
        b"star*?.md",
    ];
    let mut names: Vec<_> = good.into_iter().map(|name| (name.to_vec(), GOOD, Text(GOOD))).collect();
    names.push((b"dot-at-the-end.md.".to_vec(), GOOD, Unknown));
    names.push((b"..hidden..".to_vec(), GOOD, Unknown));
    if cfg!(target_os = "linux") {
        names.push((b"not-utf-8-\xff\xfe.md".to_vec(), GOOD, Text(GOOD)));
    }
    names
}
