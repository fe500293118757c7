//! A file that takes over the process that reads it cannot do anything. A child drops its privileges and then tries to use each
//! of them. Without dropping them all attempts succeed, which shows that the attempts are valid. Systems other than Linux have
//! only the layer of resource limits.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::parent_id;
use std::path::PathBuf;
use std::process::Command;

use extract::sandbox::{Layer, confine};
use nix::unistd::Pid;

/// A secret in the memory of the parent.
const SECRET: &str = "a secret of the parent";

struct Attempt {
    name: &'static str,
    make: Box<dyn Fn() -> io::Result<()>>,
}

fn attempt(name: &'static str, make: impl Fn() -> io::Result<()> + 'static) -> Attempt {
    Attempt { name, make: Box::new(make) }
}

/// An attempt of the child.
fn attempts() -> Vec<Attempt> {
    let setting = |name: &str| std::env::var(name).unwrap_or_default();
    let folder = PathBuf::from(setting("TRY_FOLDER"));
    let (file, link, socket) = (folder.join("new"), folder.join("link"), folder.join("socket"));
    let (known, tcp) = (folder.join("known"), setting("TRY_TCP"));
    let program = CString::new(folder.join("program").to_string_lossy().as_bytes()).unwrap();
    let parent = || Pid::from_raw(parent_id().cast_signed());
    vec![
        #[cfg(target_os = "linux")]
        attempt("read the parent's environment", || {
            let environment = fs::read(format!("/proc/{}/environ", parent_id()))?;
            if environment.is_empty() { Err(io::Error::other("it is empty")) } else { Ok(()) }
        }),
        #[cfg(target_os = "linux")]
        attempt("read the parent's memory", move || {
            let base = usize::from_str_radix(&setting("TRY_MEMORY"), 16).unwrap_or_default();
            let mut found = vec![0; SECRET.len()];
            let from = [nix::sys::uio::RemoteIoVec { base, len: found.len() }];
            nix::sys::uio::process_vm_readv(parent(), &mut [io::IoSliceMut::new(&mut found)], &from)?;
            assert_eq!(found, SECRET.as_bytes());
            Ok(())
        }),
        attempt("read a file", move || File::open(&known).map(drop)),
        attempt("list a folder", || fs::read_dir("/").map(drop)),
        attempt("create a file", move || fs::write(&file, "text")),
        attempt("link a file", move || std::os::unix::fs::symlink("target", &link)),
        attempt("connect to a server", move || TcpStream::connect(&tcp).map(drop)),
        attempt("open a UDP socket", || UdpSocket::bind("127.0.0.1:0").map(drop)),
        attempt("connect to a Unix socket", move || UnixStream::connect(&socket).map(drop)),
        attempt("start a thread", || std::thread::Builder::new().spawn(|| {}).map(drop)),
        attempt("start a process", || Command::new("/bin/sh").args(["-c", "true"]).status().map(drop)),
        attempt("signal the parent", move || Ok(nix::sys::signal::kill(parent(), None)?)),
        // The last attempt, because `exec` does not return.
        attempt("become another program", move || {
            nix::unistd::execv(&program, &[&program]).map(drop).map_err(io::Error::from)
        }),
    ]
}

/// In the order of the process that reads files: no limit can be set after the last layer.
const LAYERS: [(&str, Layer); 3] =
    [("files", Layer::Files), ("limits", Layer::Limits), ("calls", Layer::Calls)];

#[test]
#[ignore = "started by the other tests of this file"]
fn child() {
    let names = std::env::var("TRY_LAYERS").expect("started by a test");
    let attempts = attempts();
    for (name, layer) in LAYERS {
        if names.split(',').any(|wanted| wanted == name) && !confine(layer).expect(name) {
            say(&format!("missing {name}"));
        }
    }
    for Attempt { name, make } in attempts {
        // Written before the attempt, because the last one does not return.
        say(name);
        match make() {
            Ok(()) => say("ok"),
            Err(error) => say(&format!("refused {error}")),
        }
    }
    // The end of a test needs more privileges than are left.
    std::process::exit(0);
}

fn say(line: &str) {
    let mut output = io::stdout();
    let written = output.write_all(format!("\n@{line}\n").as_bytes()).and_then(|()| output.flush());
    written.expect("standard output is left");
}

struct Tried {
    /// Layers that this kernel does not support.
    missing: Vec<String>,
    /// True if each attempt succeeded.
    outcomes: BTreeMap<String, bool>,
    output: String,
}

impl Tried {
    fn successes(&self) -> Vec<&str> {
        self.outcomes.iter().filter(|(_, is_ok)| **is_ok).map(|(name, _)| name.as_str()).collect()
    }
}

fn try_with(layers: &str) -> Tried {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("known"), "text").unwrap();
    let program = folder.path().join("program");
    fs::write(&program, "#!/bin/sh\necho @ok\n").unwrap();
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let _unix = UnixListener::bind(folder.path().join("socket")).unwrap();
    let in_memory = SECRET.to_owned();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--ignored", "--nocapture", "--test-threads=1"])
        .env("TRY_FOLDER", folder.path())
        .env("TRY_TCP", tcp.local_addr().unwrap().to_string())
        .env("TRY_MEMORY", format!("{:x}", in_memory.as_ptr().addr()))
        .env("TRY_LAYERS", layers)
        .output()
        .unwrap();
    drop(in_memory);
    read(&String::from_utf8(output.stdout).unwrap())
}

fn read(output: &str) -> Tried {
    let mut tried = Tried { missing: Vec::new(), outcomes: BTreeMap::new(), output: output.to_owned() };
    let mut current = None;
    for line in output.lines().filter_map(|line| line.trim().strip_prefix('@')) {
        if let Some(layer) = line.strip_prefix("missing ") {
            tried.missing.push(layer.to_owned());
        } else if line == "ok" || line.starts_with("refused ") {
            let name: String = current.take().unwrap_or_else(|| panic!("{output}"));
            tried.outcomes.insert(name, line == "ok");
        } else {
            current = Some(line.to_owned());
        }
    }
    // Without files it cannot open its libraries, so it ends without output.
    if let Some(name) = current.filter(|name| name == "become another program") {
        tried.outcomes.insert(name, false);
    }
    assert_eq!(tried.outcomes.len(), attempts().len(), "{output}");
    tried
}

#[track_caller]
fn assert_refused(tried: &Tried, names: &[&str]) {
    let successes = tried.successes();
    assert!(names.iter().all(|name| !successes.contains(name)), "{successes:?}\n{}", tried.output);
}

/// Attempts to open something.
const OPEN: [&str; 6] = [
    "read a file",
    "list a folder",
    "create a file",
    "connect to a server",
    "open a UDP socket",
    "connect to a Unix socket",
];

#[test]
fn every_attempt_succeeds_without_confinement() {
    let tried = try_with("");
    let refused: Vec<_> = tried.outcomes.iter().filter(|(_, is_ok)| !**is_ok).collect();
    // Some systems let nobody but root look into the memory of a parent.
    assert!(refused.iter().all(|(name, _)| *name == "read the parent's memory"), "{}", tried.output);
}

#[cfg(target_os = "linux")]
#[test]
fn the_process_that_reads_files_can_do_nothing_else() {
    let tried = try_with("files,limits,calls");
    assert_eq!(tried.successes(), [""; 0], "{}", tried.output);
    assert_eq!(tried.missing.iter().filter(|layer| *layer != "files").count(), 0, "{}", tried.output);
}

#[cfg(target_os = "linux")]
#[test]
fn seccomp_alone_refuses_everything() {
    let tried = try_with("calls");
    assert_eq!(tried.missing, [""; 0], "this kernel has no seccomp filters");
    assert_eq!(tried.successes(), [""; 0], "{}", tried.output);
}

#[cfg(target_os = "linux")]
#[test]
fn landlock_alone_refuses_files_programs_and_other_processes() {
    let tried = try_with("files");
    if tried.missing.is_empty() {
        assert_refused(&tried, &OPEN[..3]);
        assert_refused(&tried, &["link a file", "start a process", "become another program"]);
        assert_refused(&tried, &["read the parent's environment", "read the parent's memory"]);
    } else {
        // Landlock is not enabled, or the kernel is older than 5.13. seccomp alone is then used, which another test covers.
        let expected = try_with("");
        assert_eq!(tried.successes(), expected.successes(), "{}", tried.output);
        io::stderr().write_all(b"\nthis kernel has no Landlock: seccomp is the only barrier\n").unwrap();
    }
}

#[test]
fn limits_alone_refuse_to_open_anything_or_start_a_process() {
    let tried = try_with("limits");
    assert_eq!(tried.missing, [""; 0]);
    assert_refused(&tried, &OPEN);
    assert_refused(&tried, &["read the parent's environment"]);
    // The limit on processes does not apply to root.
    if !rustix::process::geteuid().is_root() {
        assert_refused(&tried, &["start a process"]);
    }
}
