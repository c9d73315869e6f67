use super::*;
use crate::client::{Client, TrueAnswer};
use demure_core::random::SeededForTests;

#[test]
fn whatever_comes_in_is_counted_once_or_dropped_with_a_reason() {
    let survey = Survey::parse(
        "version = 1\nquestion = \"q\"\nalpha = 0.5\nvalues = ['yes','no']\n\
             salt = \"00112233445566778899aabbccddeeff\"\n",
    )
    .unwrap();
    let client = Client::new(&survey);
    let mut rng = SeededForTests::insecure(1);
    let one = client.randomize(&[TrueAnswer::Category(0)], &mut rng).unwrap();
    let line = one.to_json(&survey);
    let mut collector = Collector::new(&survey);
    let mut lines = format!("{line}\n\n{line}\n{{}}\nnonsense\n").into_bytes();
    lines.extend(b"\xff\xfe\n");
    lines.extend(line.replace("\"version\":1", "\"version\":7").bytes());
    lines.push(b'\n');
    let replaced = line.replace("\"yes\"", "\"eh\"").replace("\"no\"", "\"eh\"");
    lines.extend(replaced.bytes());
    // A line without end is no report and takes no memory.
    lines.push(b'\n');
    lines.extend(std::iter::repeat_n(b'x', 10_000_000));
    lines.extend(format!("\n{line}").bytes());
    collector.add_lines(lines.as_slice()).unwrap();
    assert_eq!(collector.add_bytes(&one.to_bytes(&survey)), Outcome::Duplicate);
    assert_eq!(collector.people(), 1);
    let expected =
        Rejected { malformed: 3, version: 2, other_survey: 0, out_of_domain: 1, duplicate: 3 };
    assert_eq!(collector.rejected(), expected);
    assert_eq!(expected.total(), 9);
}
