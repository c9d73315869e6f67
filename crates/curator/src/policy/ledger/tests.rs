use super::*;

const POLICY: &str = "# A clinic.\n\n[budget]\nepsilon = 1.0\n\n[tables.t]\n\
                          source = \"t.csv\"\nunit = \"row\"\n";

fn parse(text: &str) -> Policy {
    Policy::parse(text, Path::new("")).unwrap()
}

#[test]
fn a_policy_is_the_same_but_for_its_ledger() {
    let id = LedgerId::parse(&"0a".repeat(16)).unwrap();
    let bare = POLICY.trim_end().to_owned();
    let headless =
        "budget.epsilon = 1.0\ntables = { t = { source = \"t.csv\", unit = \"row\" } }\n";
    for text in [POLICY, bare.as_str(), POLICY.trim_start_matches("# A clinic.\n\n"), headless] {
        let named = with_ledger(&parse(text), &id, "odd \"name\".ledger").unwrap();
        let policy = parse(&named);
        let ledger = policy.ledger.clone().unwrap();
        assert_eq!((ledger.id, ledger.at.as_str()), (id.clone(), "odd \"name\".ledger"));
        assert_eq!((policy.budget, &policy.tables), (parse(text).budget, &parse(text).tables));
        assert_eq!(policy.text_without_ledger().trim_end(), text.trim_end(), "{named}");
        // A different ledger later.
        let other = LedgerId::random().unwrap();
        let again = with_ledger(&policy, &other, "t.2.ledger").unwrap();
        assert_eq!(again.matches("[ledger]").count(), 1, "{again}");
        assert_eq!(parse(&again).text_without_ledger(), policy.text_without_ledger());
    }
    // Equal to the byte, if the section goes before another.
    let named = with_ledger(&parse(POLICY), &id, "x").unwrap();
    assert_eq!(parse(&named).text_without_ledger(), POLICY);
    // As a steward may have pasted it.
    let pasted = format!("{POLICY}[ledger]\nat='x'\nid = '{id}' # mine\n");
    assert_eq!(parse(&pasted).text_without_ledger(), POLICY);
}

#[test]
fn a_ledger_that_is_written_in_another_way_is_replaced_too() {
    let (id, next) = ("0a".repeat(16), LedgerId::parse(&"0b".repeat(16)).unwrap());
    for text in [
        format!("ledger = {{ id = \"{id}\", at = \"x\" }} # mine\n{POLICY}"),
        format!("ledger.id = \"{id}\"\nledger . at = \"x\"\n{POLICY}"),
        format!("{POLICY}\n[ ledger ]\nid = \"{id}\"\n\nat = \"x\"\n"),
        format!("[\"ledger\"]\nid = \"{id}\"\nat = \"x\"\n\n{POLICY}"),
    ] {
        let policy = parse(&text);
        let named = with_ledger(&policy, &next, "y").unwrap();
        let read = parse(&named);
        assert_eq!((read.budget, &read.tables), (policy.budget, &policy.tables), "{named}");
        assert_eq!(read.ledger.unwrap().id, next);
        assert!(!named.contains(&id) && named.contains("# A clinic."), "{named}");
    }
    // A rewrite that is impossible is not attempted.
    let odd = format!("\"ledger\" = {{ id = \"{id}\", at = \"x\" }}\n{POLICY}");
    assert_eq!(with_ledger(&parse(&odd), &next, "y"), None);
}

#[test]
fn a_text_that_is_no_policy_yet_keeps_its_ledger() {
    let id = LedgerId::parse(&"0a".repeat(16)).unwrap();
    for text in ["", "# Complete me.\n", "[budget]\nepsilon = 1.0\n", "# x\n[tables.t]"] {
        let named = with_ledger_in(text, &id, "x y.ledger");
        let own = Named::Ledger(id.clone(), "x y.ledger".to_owned());
        assert_eq!(Named::in_text(&named), own, "{named}");
        assert_eq!(Named::in_text(text), Named::Nothing);
    }
    let (good, at) = (format!("id = '{id}'"), "at = 'x'");
    for (text, known) in [
        (format!("ledger = {{ {good}, {at} }}"), true),
        (format!("[ ledger ]\n{good}\n{at}\n[[[ "), false),
        (format!("ledger.{at}"), false),
        (format!("[ledger]\nid = '12'\n{at}"), false),
        ("ledger = 1".to_owned(), false),
        ("not toml".to_owned(), false),
    ] {
        assert_eq!(Named::in_text(&text) != Named::Unreadable, known, "{text}");
    }
}

#[test]
fn mistakes_are_told_with_what_to_write() {
    let id = "0a".repeat(16);
    for (lines, says) in [
        ("id = \"12\"\nat = \"x\"".to_owned(), "`id` in `[ledger]` is not 32"),
        (format!("id = \"{id}\""), "`[ledger]` has no `at`"),
        ("at = \"x\"".to_owned(), "`[ledger]` has no `id`"),
        (format!("id = \"{id}\"\nat = 1"), "`at` in `[ledger]` is a whole number"),
        (format!("id = \"{id}\"\nat = \"postgres://a:b@h/d\""), "password"),
        (format!("id = \"{id}\"\nat = \"postgres://h:x/d\""), "cannot be read"),
        (format!("id = \"{id}\"\nat = \"x\"\nage = 1"), "unknown key `age`"),
    ] {
        let text = format!("{POLICY}[ledger]\n{lines}\n");
        let error = Policy::parse(&text, Path::new("")).unwrap_err().to_string();
        assert!(error.contains(says), "{lines}\n{error}");
    }
}
