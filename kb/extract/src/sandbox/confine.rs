//! Drops the privileges of the process that reads files: afterwards it can only compute, read standard input, write standard
//! output and exit.
//!
//! | system | memory, time | files, network, processes, other processes' memory |
//! |---|---|---|
//! | Linux | resource limits | seccomp ([`Layer::Calls`], x86-64 and AArch64) and Landlock ([`Layer::Files`], Linux 5.13 and later), each sufficient for files; resource limits ([`Layer::Limits`]) if the kernel has neither |
//! | macOS | time only | resource limits: no files or sockets can be opened, no process started |
//! | other | time only | no restriction |
//!
//! On every system the process starts without the environment of its parent. On Linux it cannot read the parent's memory and
//! environment either ([`hide_memory`]). On other systems a process of the same user may be able to read them.

use std::io;

/// A mechanism that drops privileges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layer {
    /// Landlock: no files, no TCP, no signals to other processes. Applies to the calling thread and threads that it starts.
    Files,
    /// seccomp: only a few system calls, for memory, standard input and output. Applies to all threads.
    Calls,
    /// Resource limits: no file can be opened or grow, no process or thread can start (except for root).
    Limits,
}

/// Drops the privileges irrevocably; false if the system does not have this layer.
///
/// # Errors
/// If the system has the layer and setting it up fails.
pub fn confine(layer: Layer) -> io::Result<bool> {
    match layer {
        #[cfg(target_os = "linux")]
        Layer::Files => files(),
        #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
        Layer::Calls => calls(),
        #[cfg(unix)]
        Layer::Limits => limits(),
        #[allow(unreachable_patterns, reason = "Linux has all layers")]
        _ => Ok(false),
    }
}

/// Hides the memory and the environment of this process from other processes of the same user (except root), including the
/// process that reads files. They contain the secret key, even after it was removed from the environment, because `/proc`
/// shows the initial environment. Does nothing on systems other than Linux.
///
/// # Errors
/// If the kernel refuses.
pub fn hide_memory() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?;
    Ok(())
}

#[cfg(target_os = "linux")]
fn files() -> io::Result<bool> {
    use landlock::{ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetStatus, Scope};

    // Rights that an older kernel does not know are left out.
    let abi = ABI::V6;
    let restrict = || {
        Ruleset::default()
            .handle_access(AccessFs::from_all(abi))?
            .handle_access(AccessNet::from_all(abi))?
            .scope(Scope::from_all(abi))?
            .create()?
            .restrict_self()
    };
    let status = restrict().map_err(io::Error::other)?;
    Ok(status.ruleset != RulesetStatus::NotEnforced)
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn calls() -> io::Result<bool> {
    use seccompiler::{BpfProgram, Error, SeccompAction, SeccompFilter};

    let rules = allowed_calls().map_err(io::Error::other)?;
    let architecture = std::env::consts::ARCH.try_into().map_err(io::Error::other)?;
    // An error instead of a kill, so that a library can continue without the call.
    let refuse = SeccompAction::Errno(libc::EPERM.cast_unsigned());
    let filter = SeccompFilter::new(rules, refuse, SeccompAction::Allow, architecture);
    let program = filter.and_then(BpfProgram::try_from).map_err(io::Error::other)?;
    match seccompiler::apply_filter_all_threads(&program) {
        Ok(()) => Ok(true),
        // A kernel (or an emulation of one) without seccomp filters.
        Err(Error::Seccomp(error)) if matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EINVAL)) => {
            Ok(false)
        }
        Err(error) => Err(io::Error::other(error)),
    }
}

/// System calls of memory allocation, hash maps, panics, process exit and the three standard streams.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn allowed_calls()
-> Result<std::collections::BTreeMap<i64, Vec<seccompiler::SeccompRule>>, seccompiler::BackendError> {
    use seccompiler::{SeccompCmpArgLen::Dword, SeccompCmpOp, SeccompCondition, SeccompRule};

    const UNCONDITIONAL: [i64; 19] = [
        libc::SYS_brk,
        libc::SYS_clock_gettime,
        libc::SYS_close,
        libc::SYS_exit,
        libc::SYS_exit_group,
        libc::SYS_futex,
        libc::SYS_getpid,
        libc::SYS_getrandom,
        libc::SYS_gettid,
        libc::SYS_madvise,
        libc::SYS_mremap,
        libc::SYS_munmap,
        libc::SYS_nanosleep,
        libc::SYS_restart_syscall,
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_sched_yield,
        libc::SYS_sigaltstack,
    ];
    let argument =
        |at, operator, value| SeccompRule::new(vec![SeccompCondition::new(at, Dword, operator, value)?]);
    let equals = |at, value: u64| argument(at, SeccompCmpOp::Eq, value);
    let not_executable = || {
        let executable = u64::from(libc::PROT_EXEC.cast_unsigned());
        argument(2, SeccompCmpOp::MaskedEq(executable), 0)
    };
    let (input, output, stderr) = (0, 1, 2);
    let mut rules: std::collections::BTreeMap<_, _> =
        UNCONDITIONAL.iter().map(|call| (*call, Vec::new())).collect();
    rules.insert(libc::SYS_mmap, vec![not_executable()?]);
    rules.insert(libc::SYS_mprotect, vec![not_executable()?]);
    rules.insert(libc::SYS_read, vec![equals(0, input)?]);
    rules.insert(libc::SYS_write, vec![equals(0, output)?, equals(0, stderr)?]);
    // `abort` sends a signal to itself.
    rules.insert(libc::SYS_tgkill, vec![equals(0, u64::from(std::process::id()))?]);
    Ok(rules)
}

#[cfg(unix)]
fn limits() -> io::Result<bool> {
    use rlimit::Resource;

    Resource::FSIZE.set(0, 0)?;
    Resource::NOFILE.set(0, 0)?;
    Resource::NPROC.set(0, 0)?;
    Ok(true)
}
