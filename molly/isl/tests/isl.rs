//! The wrapper: results, errors that do not abort, limits.

use spinneret_isl::{Ast, Error, Expr, Kind, Map, Set, UnionMap, last_writers, limited, loops};

#[test]
fn sets_and_relations_are_counted_and_copied() {
    let square = Set::parse("{ [x, y] : 0 <= x, y < 4 }").unwrap();
    let diagonal = Set::parse("{ [x, x] }").unwrap();
    let rest = square.clone().subtract(diagonal.clone()).unwrap();
    assert!(!rest.is_empty().unwrap());
    let again = rest.union(square.clone().intersect(diagonal).unwrap()).unwrap();
    assert!(again.is_equal(&square).unwrap());
    assert_eq!(again.dims().unwrap(), 2);
    drop(square);
    assert!(
        again
            .coalesce()
            .unwrap()
            .project_out(1, 1)
            .unwrap()
            .is_equal(&Set::parse("{ [x] : 0 <= x < 4 }").unwrap())
            .unwrap()
    );
}

/// A union of several relations is read by isl itself.
#[test]
fn fast_parser_agrees_with_isl() {
    for text in [
        "{ [] -> [] }",
        "{ A0_1[i0, i1] -> [p0, 3, i1, -i0, i1 + 2] : (0 <= i0 and i0 < (7)) and 2*(i1) >= 5*p0 - 2 + 1 and true }",
        "{ [x, x] -> F[y, (x - 1)] : ((x + y) > 2 and (y = 3)) and 0 <= x < 5 <= y + 3 }",
        "{ [x] -> [y] : 2 * (3 - x) * -1 <= y and x >= 4 and x < 9 and (y) = -2 }",
        "{ [x] -> [y] : x > 3 and x < 3 }",
        "{ [x] -> [y] : x < 3 or y = 2 }",
        "{ [x] -> [y] : 0 <= x < 9 and (x + 2*y) mod 3 = 1 }",
        "{ [x] -> [y] : (x mod 4) = (y mod 2) and -9 <= x < y <= 9 }",
        "{ [x] -> [y] : (0 <= x < 5 and y = x - (2)) or (x >= 5 and (y = 0 or y = x)) or false }",
        "{ [y, 2 * y + 1, x] -> [y - 1] : x != y and (true or x = 1) and 2 * (x mod 3) + 1 = y }",
        "{ [x] -> [y] : x - (-2) mod 5 = y }",
        "{ [x] -> [y] : y - x mod 5 = 2 }",
        "{ [x] -> [y] : -x mod 5 = y }",
        "{ [x] -> [y] : 2 * x mod 5 + 1 = y }",
        "{ [x] -> [y] : y = floor((x + 1) / 3) }",
        "{ [x] -> [y] : floor(x / 2) < (floor(y / 3) mod 5) }",
        "{ [x] -> [y] : exists (a, b : x = 2*a + 4*b and 0 <= a < 3 and b != a) and y = 0 }",
        "{ [x] -> [y] : (exists (a : x = 3*a) or exists (a : y = 5*a)) and 0 <= x }",
        // These have other forms.
        "{ [x] -> [x mod 3] : 0 <= x, 2 x < 9 }",
        "{ [x] -> [y] : exists (i2 : y = 2 * i2 and 0 <= i2 < x) }",
        "{ [a, b] -> [c, d] : a, b << c, d }",
        "{ [x] -> [y] : y = 12345678901 * x and not (x = 3) }",
        "{ [x] -> [y] : y = 12345678901 * x and 0 <= x <= 4 }",
        "{ [[x] -> [y]] -> [x] : y = 3 }",
    ] {
        let built = Map::parse(text).unwrap();
        let read = UnionMap::parse(&format!(
            "{{ Nothing[] -> Nothing[]; {} }}",
            &text[1..text.len() - 1]
        ));
        let found = read.unwrap().maps().unwrap();
        let found = found
            .iter()
            .find(|one| one.range_name().as_deref() != Some("Nothing"));
        // A union has no relation without pairs.
        let is_same = found.map_or_else(|| built.is_empty(), |found| built.is_equal(found));
        assert!(is_same.unwrap(), "{text}: {built:?} and {found:?}");
    }
    for text in [
        "{ [x y] -> [x] }",
        "{ [x] -> [y] : 3 < }",
        "{ [x] -> [y] : z = 3 }",
    ] {
        let error = Map::parse(text).unwrap_err();
        assert!(error.to_string().contains(text), "{error}");
    }
}

#[test]
fn conditions_are_numbers() {
    let of = |text: &str| Set::parse(text).unwrap().conditions();
    let found = of("{ [x, y] : 0 <= x < 4 and y = 2 x and x + y < 100 }").unwrap();
    assert!(found.is_exact);
    let mut rows: Vec<_> = found
        .all
        .into_iter()
        .map(|one| (one.kind == Kind::Zero, one.constant, one.coefficients))
        .collect();
    rows.sort();
    // Conditions that follow from the others are removed.
    assert_eq!(rows[..2], [(false, 0, vec![1, 0]), (false, 3, vec![-1, 0])]);
    assert_eq!((rows.len(), rows[2].2[0].abs(), rows[2].2[1].abs()), (3, 2, 1));
    let even = of("{ [x, y] : (x + y) mod 2 = 1 and 0 <= x < 8 and 0 <= y < 8 }").unwrap();
    let multiples = even.all.iter().filter(|one| one.kind == Kind::Multiple(2));
    assert_eq!((even.is_exact, multiples.count()), (true, 1));
    let quotient = of("{ [x, y] : floor(x / 3) <= y and 0 <= x < 9 and y < 20 }").unwrap();
    assert!(quotient.all.iter().all(|one| one.kind == Kind::NotNegative));
    assert!(of("{ [x] : x = 0 or x = 2 }").is_err());
}

#[test]
fn a_wrong_text_is_an_error_with_the_text() {
    let error = Set::parse("{ [x] : x * x * }").unwrap_err();
    assert!(
        matches!(&error, Error::Isl(words) if words.ends_with(" in { [x] : x * x * }")),
        "{error}"
    );
    assert_eq!(Set::parse("{ [x\0] }").unwrap_err(), Error::Text);
    // The error is forgotten.
    assert!(Set::parse("{ [x] : x > 0 }").is_ok());
}

#[test]
fn spaces_that_do_not_fit_are_an_error() {
    let (one, two) = (
        Set::parse("{ A[x] }").unwrap(),
        Set::parse("{ B[x, y] }").unwrap(),
    );
    let error = one.union(two).unwrap_err();
    assert!(matches!(error, Error::Isl(_)), "{error}");
}

#[test]
fn operation_limit_is_restored_afterwards() {
    let work = || Set::parse("{ [x, y, z] : 7x + 11y + 13z = 1000003 and 0 <= x < y < z }")?.lexmax();
    assert_eq!(limited(20, work).unwrap_err(), Error::Limit { limit: 20 });
    let error = limited(1_000_000, || Set::parse("{ [x] : * }")).unwrap_err();
    assert!(matches!(error, Error::Isl(_)), "{error}");
    assert!(work().is_ok());
}

#[test]
fn sample_returns_a_point() {
    let set = Set::parse("{ [x, y] : 5 <= x < 6 and y = 2x }").unwrap();
    assert_eq!(set.sample().unwrap(), Some(vec![5, 10]));
    assert_eq!(Set::parse("{ [x] : false }").unwrap().sample().unwrap(), None);
}

#[test]
fn a_set_is_its_parts() {
    let set = Set::parse("{ [x] : 0 <= x < 4 or 8 <= x < 12 }").unwrap();
    let parts = set.parts().unwrap();
    assert_eq!(parts.len(), 2);
    let again = parts.into_iter().reduce(|a, b| a.union(b).unwrap()).unwrap();
    assert!(again.is_equal(&set).unwrap());
}

#[test]
fn the_last_writer_is_the_one_before() {
    let parse = |text| UnionMap::parse(text).unwrap();
    let flow = last_writers(
        parse("{ R[i] -> F[0] : 0 <= i < 4 }"),
        parse("{ W[i] -> F[0] : 0 <= i < 4 }"),
        parse("{ R[i] -> [i, 0]; W[i] -> [i, 1] }"),
    );
    let (written, unwritten) = flow.unwrap();
    let maps = written.maps().unwrap();
    let [map] = &maps[..] else { panic!("{maps:?}") };
    assert_eq!(map.domain_name().as_deref(), Some("W"));
    assert!(
        map.is_equal(&Map::parse("{ W[i] -> [R[i + 1] -> F[0]] : 0 <= i < 3 }").unwrap())
            .unwrap()
    );
    let maps = unwritten.maps().unwrap();
    let [map] = &maps[..] else { panic!("{maps:?}") };
    assert!(map.is_equal(&Map::parse("{ R[0] -> F[0] }").unwrap()).unwrap());
}

#[test]
fn loops_visit_each_point_once() {
    let schedule =
        UnionMap::parse("[n] -> { S[x, y] -> [x, y] : 0 <= x < n and 0 <= y < 8 and y mod 2 = 1 }").unwrap();
    let ast = loops(schedule, Set::parse("[n] -> { : n > 0 }").unwrap()).unwrap();
    let Ast::For {
        variable,
        init,
        step,
        body,
        ..
    } = ast
    else {
        panic!("{ast:?}")
    };
    assert_eq!((init, step), (Expr::Number(0), 1));
    let Ast::For {
        variable: inner,
        init,
        step,
        body,
        ..
    } = *body
    else {
        panic!("{body:?}")
    };
    assert_eq!((init, step), (Expr::Number(1), 2));
    assert_eq!(
        *body,
        Ast::Call("S".into(), vec![Expr::Name(variable), Expr::Name(inner)])
    );
}

#[test]
fn threads_have_contexts_of_their_own() {
    std::thread::scope(|scope| {
        for at in 0..4 {
            scope.spawn(move || {
                let set = Set::parse(&format!("{{ [{at}] }}")).unwrap();
                assert_eq!(set.sample().unwrap(), Some(vec![at]));
            });
        }
    });
}
