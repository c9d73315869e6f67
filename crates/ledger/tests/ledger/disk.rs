//! Real disks: full ones, files that may not grow, and kills at every system call.

use super::{open, place, pure, request};
use demure_ledger::{Error, Ledger, wall_clock};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const PATH: &str = "DEMURE_LEDGER_DISK_PATH";
const PURCHASES: &str = "DEMURE_LEDGER_DISK_PURCHASES";
const EVENT: &str = "pure(eps=1/1024)";

/// Buys until something fails, and says what it released, and what failed.
#[test]
fn child() {
    let Ok(path) = std::env::var(PATH) else { return };
    let purchases: u32 = std::env::var(PURCHASES).unwrap().parse().unwrap();
    let say = |line: String| std::io::stdout().lock().write_all(line.as_bytes()).unwrap();
    let buy = |ledger: &Ledger, i: u32| -> Result<(), Error> {
        let one = ledger.reserve(&request(&format!("{i}"), EVENT))?;
        say(format!("\ndebited {i}\n"));
        one.begin()?.settle(&[7; 2000])?;
        say(format!("\nreleased {i}\n"));
        Ok(())
    };
    let opened = Ledger::open(Path::new(&path), "visits", pure(1e6), wall_clock());
    let done = opened.and_then(|ledger| (0..purchases).try_for_each(|i| buy(&ledger, i)));
    if let Err(error) = done {
        say(format!("\nfailed {error:?}\n"));
    }
}

/// This executable, to be run as [`child`] by `command`.
fn run(mut command: Command, path: &Path, purchases: u32) -> Output {
    command
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "disk::child", "--nocapture", "--test-threads=1"])
        .env(PATH, path)
        .env(PURCHASES, purchases.to_string())
        .stderr(Stdio::null())
        .output()
        .unwrap()
}

/// Is what the child said so? Returns how much it released, and what failed.
fn holds(output: &Output, path: &Path) -> (u64, Option<String>) {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = |what: &str| -> Vec<String> {
        text.lines().filter_map(|line| line.strip_prefix(what)).map(str::to_owned).collect()
    };
    let (debited, released) = (said("debited "), said("released "));
    let ledger = open(path, pure(1e6));
    let verified = ledger.verify().unwrap();
    assert!(verified.spent.main * 1024.0 >= debited.len() as f64);
    for key in &released {
        assert!(ledger.find(key).unwrap().is_some(), "{key}");
    }
    // The journal goes on.
    assert!(ledger.reserve(&request("next", EVENT)).is_ok());
    (released.len() as u64, said("failed ").pop())
}

#[test]
fn a_file_that_may_not_grow_grants_nothing_and_loses_nothing() {
    let (_directory, path) = place();
    let mut shell = Command::new("sh");
    // Blocks of 512 bytes; the signal would end the process before the error is seen.
    shell.args(["-c", "trap '' XFSZ; ulimit -f 2000; exec \"$0\" \"$@\""]);
    let (released, failed) = holds(&run(shell, &path, 10_000), &path);
    let failed = failed.unwrap();
    assert!(
        released > 5 && (failed.contains("DiskFull") || failed.contains("Storage")),
        "{failed}"
    );
}

#[test]
fn a_full_disk_is_said_to_be_full() {
    let (directory, _) = place();
    let small = directory.path().join("small");
    std::fs::create_dir(&small).unwrap();
    let mount = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=400k", "none"])
        .arg(&small)
        .stderr(Stdio::null())
        .status();
    if !mount.is_ok_and(|mount| mount.success()) {
        eprintln!("only root may mount a small disk; `failures.rs` fills one without");
        return;
    }
    let path = small.join("ledger.db");
    let output = run(Command::new("env"), &path, 10_000);
    // More room; nothing else.
    let more = Command::new("mount").args(["-o", "remount,size=40m"]).arg(&small).status();
    assert!(more.unwrap().success());
    let result = std::panic::catch_unwind(|| holds(&output, &path));
    let _ = Command::new("umount").arg(&small).status();
    let (released, failed) = result.unwrap();
    assert!(released > 5, "{released}");
    assert_eq!(failed.as_deref(), Some("DiskFull"));
}

/// SIGKILL at the n-th call of everything that changes a file, for all n.
#[test]
#[ignore = "needs strace"]
fn a_process_killed_at_any_system_call_has_spent_what_it_released() {
    let mut kills = 0;
    for call in ["pwrite64", "fdatasync", "fsync", "ftruncate", "unlink", "openat", "fcntl"] {
        for when in 1.. {
            let (_directory, path) = place();
            let mut strace = Command::new("strace");
            strace.args(["-f", "-qq", "-o", "/dev/null", "-e"]).arg(format!("trace={call}"));
            strace.arg("-e").arg(format!("inject={call}:signal=KILL:when={when}"));
            let output = run(strace, &path, 4);
            let (released, failed) = holds(&output, &path);
            assert_eq!(failed, None);
            if output.status.success() {
                assert_eq!(released, 4);
                break;
            }
            kills += 1;
        }
    }
    println!("{kills} kills");
    assert!(kills > 50, "{kills}");
}
