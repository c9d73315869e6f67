use super::*;

fn question() -> Question {
    Question {
        survey: None,
        privacy: Some(Privacy::Gamma(0.25)),
        people: None,
        error: Some(0.01),
        values: None,
        mechanism: None,
        beta: Beta::new(0.05).unwrap(),
        together: false,
        frequency: None,
        method: Method::Hoeffding,
    }
}

#[test]
fn two_give_the_third_by_every_method() {
    let solved = question().solve().unwrap();
    assert_eq!((solved.sought, solved.plan.people), (Sought::People, 73_778));
    let people = |at: usize| solved.by_method[at].1.as_ref().unwrap().people;
    // Hoeffding's inequality holds for every share, so the others need no more people.
    assert!((1..4).all(|at| people(at) <= people(0)));
    assert!(solved.curve.first().unwrap().people < 73_778);
    assert!(solved.curve.last().unwrap().people > 73_778);
}

#[test]
fn what_is_missing_or_does_not_fit_is_refused() {
    for wrong in [
        Question { error: None, ..question() },
        Question { people: Some(5), ..question() },
        Question { people: Some(0), error: None, ..question() },
        Question { values: Some(3), ..question() },
        Question { values: Some(1), ..question() },
        Question { mechanism: Some("magic".to_owned()), ..question() },
    ] {
        assert!(wrong.solve().is_err(), "{wrong:?}");
    }
}

#[test]
fn a_survey_gives_what_is_left_out() {
    let survey = Survey::parse(
        "version = 1\nquestion = 'q'\nsalt = '00112233445566778899aabbccddeeff'\nepsilon = 1\n\
             values = ['a','b','c','d']",
    )
    .unwrap();
    let asked = Question { survey: Some(survey), privacy: None, ..question() };
    let solved = asked.solve().unwrap();
    assert_eq!((solved.aim.categories, solved.plan.epsilon), (4, 1.0));
    // Both others are given: then ε is what is sought, not the survey's.
    let solved = Question { people: Some(100_000), ..asked }.solve().unwrap();
    assert_eq!(solved.sought, Sought::Epsilon);
}
