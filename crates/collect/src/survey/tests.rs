use super::*;
use demure_core::random::SeededForTests;

const EXAM: &str = "version = 1\nquestion = \"Cheated?\"\nvalues = [\"yes\", \"no\"]\nalpha = 0.5\n\
                        salt = \"00112233445566778899aabbccddeeff\"\n";

fn with(lines: &str) -> Result<Survey> {
    Survey::parse(&format!(
        "version = 1\nquestion = \"q\"\nsalt = \"00112233445566778899aabbccddeeff\"\n{lines}"
    ))
}

#[test]
fn the_lecture_is_a_survey() {
    let survey = Survey::parse(EXAM).unwrap();
    assert_eq!(survey.parts()[0].mechanism, Mechanism::Response);
    assert!((survey.epsilon().get() - 3f64.ln()).abs() < 1e-15);
    assert_eq!(survey.parts()[0].randomizer.support().unwrap().p(), 0.75);
    // The id is of the meaning, not of the layout.
    let other = EXAM.replace("alpha = 0.5\n", "") + "mechanism = 'auto'\nalpha = 0.50\n";
    assert_eq!(Survey::parse(&other).unwrap().id(), survey.id());
    for changed in [
        EXAM.replace("no\"", "never\""),
        EXAM.replace("0.5", "0.4"),
        EXAM.replace("0011", "0012"),
        EXAM.replace("Cheated", "Lied"),
    ] {
        assert_ne!(Survey::parse(&changed).unwrap().id(), survey.id());
    }
}

#[test]
fn a_new_survey_reads_back_and_has_a_salt_of_its_own() {
    let mut rng = SeededForTests::insecure(1);
    for domain in [
        DraftDomain::Values(vec!["ye\"s\n".into(), "nö\u{7f}\\".into()]),
        DraftDomain::Values((0..200).map(|i| format!("v{i}")).collect()),
        DraftDomain::Mean(-1.0, 1e9),
        DraftDomain::Distribution(0.0, 1.0, 32),
        DraftDomain::Text(8),
    ] {
        let draft = Draft {
            question: "Wie \"geht\" es?".into(),
            privacy: Privacy::Epsilon(1.0),
            domain,
            mechanism: "auto".into(),
        };
        let (a, b) = (init(&draft, &mut rng).unwrap(), init(&draft, &mut rng).unwrap());
        let (a, b) = (Survey::parse(&a).unwrap(), Survey::parse(&b).unwrap());
        assert_eq!(a.question(), draft.question);
        assert_ne!(a.id(), b.id());
        assert!(!a.parts()[0].why.is_empty() && a.parts()[0].asked.is_some());
    }
}

#[test]
fn mistakes_are_refused_by_name() {
    for (lines, word) in [
        ("values = ['a', 'b']", "privacy"),
        ("values = ['a', 'b']\nepsilon = 1\ngamma = 0.1", "privacy"),
        ("values = ['a', 'b']\nepsilon = 0", "epsilon"),
        ("values = ['a', 'b']\nepsilon = nan", "epsilon"),
        ("values = ['a', 'b']\ngamma = 0.5", "gamma"),
        ("values = ['a', 'b', 'c']\ngamma = 0.2", "gamma"),
        ("values = ['a']\nepsilon = 1", "values"),
        ("values = ['a', 'a']\nepsilon = 1", "values"),
        ("values = ['a', 'b']\nrange = [0, 1]\nepsilon = 1", "attribute"),
        ("range = [1, 0]\nepsilon = 1", "range"),
        ("range = [0, inf]\nepsilon = 1", "range"),
        ("range = [0, 1]\nstatistic = 'mode'\nepsilon = 1", "statistic"),
        ("range = [0, 1]\nbins = 5\nepsilon = 1", "bins"),
        ("length = 65\nepsilon = 1", "length"),
        ("values = ['a', 'b']\nepsilon = 1\nmechanism = 'magic'", "mechanism"),
        ("values = ['a', 'b']\nepsilon = 1\nmechanism = 'sign'", "mechanism"),
        ("values = ['a', 'b']\nepsilon = 1\nmechanism = 'rappor'", "first_epsilon"),
        ("values = ['a', 'b']\nepsilon = 1\nfirst_epsilon = 0.5", "first_epsilon"),
        ("epsilon = 1", "asked"),
        ("values = ['a', 'b']\nepsilon = 1\ncolour = 3", "colour"),
        (
            "epsilon = 1\n[[attribute]]\nname = 'x'\nvalues = ['a','b']\n[[attribute]]\nname = 'y'\nvalues = ['a','b']",
            "budget",
        ),
        (
            "epsilon = 1\nbudget = 'split'\n[[attribute]]\nname = 'x'\nvalues = ['a','b']\n[[attribute]]\nname = 'x'\nvalues = ['a','b']",
            "names",
        ),
        (
            "epsilon = 2\nfirst_epsilon = 0.1\nbudget = 'sample'\n[[attribute]]\nname = 'x'\nmechanism = 'rappor'\nvalues = ['a','b']\n[[attribute]]\nname = 'y'\nmechanism = 'rappor'\nvalues = ['a','b']",
            "budget",
        ),
    ] {
        let error = with(lines).unwrap_err().to_string();
        assert!(error.contains(word), "{lines}: {error}");
    }
    assert!(
        with("values = ['a', 'b']\nepsilon = 2\nfirst_epsilon = 1\nmechanism = 'rappor'").is_ok()
    );
}

#[test]
fn several_attributes_share_the_budget() {
    let tables = "[[attribute]]\nname = 'x'\nvalues = ['a','b']\n[[attribute]]\nname = 'y'\n\
                      values = ['p','q','r']\n";
    let split = with(&format!("epsilon = 1.0\nbudget = 'split'\n{tables}")).unwrap();
    let parts: f64 = split
        .parts()
        .iter()
        .map(|a| match a.randomizer {
            Randomizer::Response(r) => r.guarantee(),
            Randomizer::Subset(r) => r.guarantee(),
            other => panic!("{other:?}"),
        })
        .map(|g| g.to_string().trim_end_matches("-DP").parse::<f64>().unwrap())
        .sum();
    assert!(parts <= 1.0 && parts > 1.0 - 1e-12, "{parts}");
    let sample = with(&format!("epsilon = 1\nbudget = 'sample'\n{tables}")).unwrap();
    assert!(sample.samples() && sample.parts().len() == 2);
    let joint = with(&format!("epsilon = 1\nbudget = 'joint'\n{tables}")).unwrap();
    assert_eq!(joint.parts().len(), 1);
    let Domain::Categories(names) = &joint.parts()[0].domain else { panic!() };
    assert_eq!(names[..4], ["a, p", "a, q", "a, r", "b, p"]);
}

#[test]
fn hexadecimal_goes_both_ways() {
    assert_eq!(unhex::<2>("0aFf"), Some([10, 255]));
    assert_eq!(hex(&[10, 255]), "0aff");
    assert!(unhex::<2>("0aF").is_none() && unhex::<1>("ä").is_none() && unhex::<1>("+1").is_none());
}
