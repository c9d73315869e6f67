use super::*;
use std::os::unix::fs::MetadataExt;

#[test]
fn whoever_waited_for_a_file_that_was_replaced_waits_for_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap().join("clinic.toml");
    std::fs::write(&path, "one").unwrap();
    let held = turn(&path).unwrap();
    let opened = || {
        let files = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
        files.filter(|file| std::fs::read_link(file.path()).is_ok_and(|to| to == path)).count()
    };
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| turn(&path).unwrap());
        while opened() < 2 {
            std::thread::yield_now();
        }
        rewrite(&path, "two").unwrap();
        drop(held);
        let got = waiting.join().unwrap();
        assert_eq!(got.metadata().unwrap().ino(), path.metadata().unwrap().ino());
        // No other process holds the lock.
        assert!(File::open(&path).unwrap().try_lock().is_err());
    });
}
