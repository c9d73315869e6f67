use super::*;

#[test]
fn numbers_in_a_text_are_rounded() {
    for (text, shown) in [
        ("pure(eps=0.299999999999997)", "pure(eps=0.3)"),
        (
            "laplace(b=10.000000000001, n=12) + zcdp(rho=1.2500000001e-7)",
            "laplace(b=10, n=12) + zcdp(rho=1.25e-7)",
        ),
        ("eps2(a=3) e1", "eps2(a=3) e1"),
        ("1234567", "1234567"),
        ("", ""),
    ] {
        assert_eq!(rounded(text), shown);
    }
}
