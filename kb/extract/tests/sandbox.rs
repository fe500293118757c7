//! The process that reads files: its limits, and how its end is reported.

#![cfg(unix)]

mod support;

use std::{
    io::{Read, Write},
    path::PathBuf,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use extract::{ExtractError, Format, document, sandbox::Sandbox};
use support::pdf::{self, Pdf};

fn shell(script: &str) -> Sandbox {
    Sandbox::new(PathBuf::from("/bin/sh"), vec!["-c".into(), script.into()])
}

fn error(sandbox: &Sandbox) -> ExtractError {
    sandbox.read(&pdf::simple("Hello"), Format::Pdf).unwrap_err()
}

/// Nested forms, each of which draws the next one ten times: 10^12 drawings.
fn endless_pdf() -> Vec<u8> {
    let mut pdf = Pdf::new();
    let mut next = pdf.add_stream("/Type /XObject /Subtype /Form /BBox [0 0 9 9]", b"0 0 m");
    for _ in 0..12 {
        let entries = format!(
            "/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X {next} 0 R >> >>"
        );
        next = pdf.add_stream(&entries, "/X Do ".repeat(10).as_bytes());
    }
    pdf.page(&format!("/Resources << /XObject << /X {next} 0 R >> >>"), "/X Do");
    pdf.finish("")
}

#[test]
fn the_result_equals_that_of_reading_in_this_process() {
    let html = "<html lang=de><title>T</title><main><h1>A</h1><p>Größe 😀<ul><li>b</ul>";
    let docx = support::zip::stored(&[(
        "word/document.xml",
        b"<w:document><w:body><w:p><w:r><w:t>Hi</w:t></w:r></w:p></w:body></w:document>",
    )]);
    let long = "# A\n\nText.\n\n".repeat(40_000);
    let files = [
        (html.as_bytes().to_vec(), Format::Html),
        (docx, Format::Docx),
        (pdf::simple("Hello"), Format::Pdf),
        (long.clone().into_bytes(), Format::Markdown),
        (long.into_bytes(), Format::PlainText),
        (b"not a pdf".to_vec(), Format::Pdf),
        (b"a,b\n1,2".to_vec(), Format::Csv),
    ];
    for (bytes, format) in files {
        assert_eq!(support::sandbox().read(&bytes, format), document(&bytes, format), "{format:?}");
    }
}

#[cfg_attr(not(target_os = "linux"), ignore = "platform: only Linux can limit memory")]
#[test]
fn memory_is_limited() {
    // Twelve million elements: their tree would take gigabytes.
    let hungry = "<p>".repeat(12_000_000);
    let started = Instant::now();
    let error = support::sandbox().read(hungry.as_bytes(), Format::Html).unwrap_err();
    assert_eq!(error, ExtractError::OutOfMemory(400), "after {:?}", started.elapsed());
}

#[test]
fn time_is_limited() {
    let started = Instant::now();
    let sandbox = support::sandbox().with_time(Duration::from_secs(1));
    let error = sandbox.read(&endless_pdf(), Format::Pdf).unwrap_err();
    assert_eq!(error.to_string(), "takes more than 1 seconds to read");
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn every_way_to_end_is_reported() {
    assert_eq!(error(&shell("kill -SEGV $$")), ExtractError::Crashed);
    assert_eq!(error(&shell("kill -ABRT $$")), ExtractError::Crashed);
    assert_eq!(error(&shell("exit 3")), ExtractError::Crashed);
    assert_eq!(error(&shell("kill -KILL $$")), ExtractError::OutOfMemory(400));
    let out_of_memory = "echo 'memory allocation of 12 bytes failed' >&2; kill -ABRT $$";
    assert_eq!(error(&shell(out_of_memory)), ExtractError::OutOfMemory(400));
    assert!(matches!(error(&shell("exit 0")), ExtractError::Sandbox(_)));
    assert!(matches!(error(&shell("echo '{\"Ok\"'; exit 0")), ExtractError::Sandbox(_)));
    let missing = Sandbox::new(PathBuf::from("/nonexistent/program"), Vec::new());
    assert!(matches!(error(&missing), ExtractError::Sandbox(_)));
}

#[test]
fn a_child_that_hangs_or_writes_endlessly_is_stopped() {
    let started = Instant::now();
    let brief = Duration::from_millis(300);
    assert!(matches!(error(&shell("exec sleep 60").with_time(brief)), ExtractError::TimedOut(_)));
    assert!(matches!(error(&shell("exec >&-; exec sleep 60").with_time(brief)), ExtractError::TimedOut(_)));
    assert!(matches!(error(&shell("exec yes")), ExtractError::TooMuchText(_)));
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[test]
fn the_child_ends_with_its_parent() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_extract"))
        .arg("application/pdf")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let file = endless_pdf();
    let mut input = child.stdin.take().unwrap();
    input.write_all(&(file.len() as u64).to_le_bytes()).unwrap();
    input.write_all(&file).unwrap();
    std::thread::sleep(Duration::from_millis(500));
    assert!(child.try_wait().unwrap().is_none(), "it should still be reading");
    let started = Instant::now();
    drop(input);
    assert!(!child.wait().unwrap().success());
    assert!(started.elapsed() < Duration::from_secs(5));
    let mut answer = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut answer).unwrap();
    assert!(answer.is_empty());
}

#[cfg(target_os = "linux")]
#[test]
fn the_child_has_no_privileges_while_it_reads() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_extract"))
        .arg("application/pdf")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let file = endless_pdf();
    let mut input = child.stdin.take().unwrap();
    input.write_all(&(file.len() as u64).to_le_bytes()).unwrap();
    input.write_all(&file).unwrap();
    let read = |name: &str| std::fs::read_to_string(format!("/proc/{}/{name}", child.id())).unwrap();
    let is_confined = || read("status").contains("Seccomp:\t2");
    let started = Instant::now();
    while !is_confined() && started.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(10));
    }
    let (status, limits) = (read("status"), read("limits"));
    assert!(is_confined() && status.contains("NoNewPrivs:\t1") && status.contains("Threads:\t2"), "{status}");
    for limit in ["Max file size", "Max processes", "Max open files", "Max core file size"] {
        let line = limits.lines().find_map(|line| line.strip_prefix(limit)).unwrap();
        assert_eq!(line.split_whitespace().take(2).collect::<Vec<_>>(), ["0", "0"], "{limits}");
    }
    drop(input);
    child.wait().unwrap();
}

#[test]
fn the_child_does_not_inherit_secrets() {
    let leak = shell("test -z \"$PATH_OF_SECRETS$HOME\" || exit 0; exit 3");
    assert_eq!(error(&leak), ExtractError::Crashed, "its environment is not empty");
}
