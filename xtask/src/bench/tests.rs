use super::*;

#[test]
fn an_unknown_benchmark_is_named() {
    let failure = run("no-such-thing").unwrap_err();
    assert_eq!(failure.what, "no benchmark `no-such-thing`");
}

#[test]
fn peers_are_found_by_their_benchmarks_name() {
    let folder = root().join("benchmarks/peers");
    let found = stems(&folder, "noise_", ".py").unwrap();
    assert!(found.contains(&"noise_opendp".to_owned()));
    assert!(stems(&folder.join("nowhere"), "", "").unwrap().is_empty());
}

#[test]
fn a_command_that_fails_says_which_and_what_to_do() {
    let failure = succeed(program("no-such-program").arg("x"), "y").unwrap_err();
    assert!(failure.what.starts_with("`no-such-program x` did not start"));
    let failure = succeed(cargo().args(["no-such-command", "--quiet"]).stderr(Stdio::null()), "y");
    assert_eq!(failure.unwrap_err().hint, "y");
}
