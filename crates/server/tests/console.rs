//! The console in a real Chromium: `console/drive.py` signs in, asks, is refused, and looks at
//! every view by mouse, by keyboard, in the dark and on a phone.

use std::path::Path;
use std::process::Command;

#[test]
fn people_find_their_way() {
    // `cargo xtask test` says where the browser is, or that it cannot be had.
    let Ok(chromium) = std::env::var("DEMURE_TEST_CHROMIUM") else {
        eprintln!("left out: no Chromium");
        return;
    };
    let python = std::env::var("DEMURE_TEST_PYTHON").unwrap();
    // Examples are built with the tests, into a folder beside them.
    let test = std::env::current_exe().unwrap();
    let binary = test.parent().unwrap().with_file_name("examples").join("console_demo");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/console/drive.py");
    let ran = Command::new(python)
        .arg(script)
        .arg(binary)
        .args(["--chromium", &chromium])
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{out}\n{err}");
    for part in ["analyst", "keyboard", "dark", "phone", "steward"] {
        assert!(out.contains(&format!("ok {part}")), "{out}");
    }
}
