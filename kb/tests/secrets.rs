//! The secret key must not be visible to other processes.

#![cfg(target_os = "linux")]

use std::io::Read;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

const NOBODY: u32 = 65_534;

/// The kernel changes the owner of `/proc/PID` to root when a process is hidden from others of its user.
#[test]
fn other_processes_of_the_user_cannot_read_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("kb");
    std::fs::copy(env!("CARGO_BIN_EXE_kb"), &program).unwrap();
    for path in [folder.path(), &program] {
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    }
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut command = Command::new(&program);
    command
        .args(["list", "--supabase-url", &format!("http://{}", server.local_addr().unwrap())])
        .env_clear()
        .env("SUPABASE_SECRET_KEY", "sb_secret_x")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if folder.path().metadata().unwrap().uid() == 0 {
        command.uid(NOBODY).gid(NOBODY);
    }
    let mut child = command.spawn().unwrap();
    // From here on it waits for a response.
    let (mut connection, _) = server.accept().unwrap();
    connection.read_exact(&mut [0; 4]).unwrap();
    let process = format!("/proc/{}", child.id());
    let user = std::fs::read_to_string(format!("{process}/status")).unwrap();
    let owner = std::fs::metadata(format!("{process}/environ")).unwrap().uid();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!user.contains("Uid:\t0\t"), "root may read everything: {user}");
    assert_eq!(owner, 0, "the user may read it");
}
