use super::TopicRegex;

fn matches(pattern: &str, topic: &str) -> Option<bool> {
    TopicRegex::new(pattern).ok().map(|regex| regex.matches(topic))
}

/// Recorded from RE2/J 1.8; None is a refusal.
#[test]
fn reads_what_re2j_reads() {
    for (pattern, topic, outcome) in [
        ("orders", "orders", Some(true)),
        ("orders", "orders-eu", Some(false)),
        ("ord.*", "orders", Some(true)),
        ("a|b", "b", Some(true)),
        ("(?i)ORDERS", "orders", Some(true)),
        (r"\d+", "12", Some(true)),
        (r"\d+", "١٢", Some(false)),
        (r"\w+", "é", Some(false)),
        (r"a\sb", "a b", Some(true)),
        (r"\Qa.b\E", "a.b", Some(true)),
        (r"\Qa.b\E", "axb", Some(false)),
        ("[a&&b]", "&", Some(true)),
        ("[a-z&&[^m]]", "a]", Some(true)),
        (r"[\d-x]", "-", Some(true)),
        ("a{2", "a{2", Some(true)),
        ("x{,3}", "x{,3}", Some(true)),
        (r"\141", "a", Some(true)),
        (r"\x{41}", "A", Some(true)),
        (r"\pL", "é", Some(true)),
        (r"\p{Greek}", "α", Some(true)),
        ("[[:alpha:]]+", "ab", Some(true)),
        ("a{1000}", "a", Some(false)),
        ("(?P<n>a)", "a", Some(true)),
        ("(", "(", None),
        ("[a", "a", None),
        ("*", "*", None),
        ("(?=a)b", "b", None),
        (r"\p{foo}", "a", None),
        (r"a\", "a", None),
        (r"(a)\1", "aa", None),
        ("(?x)a", "a", None),
        ("(?R)a", "a", None),
        ("(?-u)a", "a", None),
        ("a**", "a", None),
        ("a++", "a", None),
        ("a{1001}", "a", None),
    ] {
        assert_eq!(matches(pattern, topic), outcome, "{pattern} on {topic}");
    }
}
