use super::*;

fn words(text: &str) -> Result<Vec<String>, String> {
    let all = arguments(text, Path::new("jobs"), &|key| key == "skipped")?;
    Ok(all.into_iter().map(|word| word.to_string_lossy().replace('\\', "/")).collect())
}

#[test]
fn a_file_says_what_a_call_would() {
    let text = "input = 'a.csv'\nqi = ['zip', 'age']\nk = 3\nt = 0.6\nsuppress = '4%'\n\
                    explain = true\njson = false\nskipped = 3\noutput = 'b.csv'\n\
                    [hierarchy]\nage = 'intervals:5'\nzip = 'zip.csv'\n";
    let expected = "jobs/a.csv --qi=zip,age --k=3 --t=0.6 --suppress=4% --explain \
                        --output jobs/b.csv --hierarchy age=intervals:5 --hierarchy zip=jobs/zip.csv";
    let mut found = words(text).unwrap();
    let mut expected: Vec<_> = expected.split_whitespace().map(str::to_owned).collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}

#[test]
fn mistakes_are_placed_and_not_repeated() {
    for (text, says) in [
        ("k = 3\nk 31337", "line 2"),
        ("config = 'x'", "cannot name another"),
        ("hierarchy = 3", "right kind"),
        ("k = { a = 31337 }", "right kind"),
        ("[hierarchy]\nzip = 31337", "right kind"),
    ] {
        let why = words(text).unwrap_err();
        assert!(why.contains(says) && !why.contains("31337"), "{why}");
    }
}
