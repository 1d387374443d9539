//! Shared parts of the benches: cases, rounds over patterns and models, counts, the parameters of a model.

use spinneret_hdl::catalog;
use spinneret_hdl::entry::Values;
use spinneret_rules::MatcherParams;
use spinneret_sim::prelude::*;
use std::ops::Deref;
use std::thread;

/// A bench that checks at the end of a test that nothing is left in it.
pub trait Finish: Sized {
    /// Ends the test. [`run_test`] itself reports what is left in the queues of the bus models.
    ///
    /// # Panics
    /// If the design has lost something, or a counter is wrong.
    fn finish(self) {}
}

/// Runs a test with a bench of its own, and ends it.
///
/// # Panics
/// If the test does, or if something is left in the bench.
#[track_caller]
pub fn case<B: Finish>(seed: u64, bench: impl Fn(&mut TestRun) -> B, test: impl Fn(&mut B)) {
    run_test(seed, |run| {
        let mut bench = bench(run);
        test(&mut bench);
        bench.finish();
    });
}

/// Gives a maker of benches its argument, for [`case`].
pub fn with<A: Clone, B>(bench: impl Fn(&mut TestRun, A) -> B, argument: A) -> impl Fn(&mut TestRun) -> B {
    move |run| bench(run, argument.clone())
}

/// Runs a test once for each pattern, under the name of the function with `#[test]` and the number of the pattern.
///
/// # Panics
/// If the test does.
pub fn each<P: Clone>(seed: u64, patterns: impl IntoIterator<Item = P>, test: impl Fn(&mut TestRun, P)) {
    let thread = thread::current();
    let name = thread.name().unwrap_or("pattern").replace("::", ".");
    for (index, pattern) in patterns.into_iter().enumerate() {
        run_named(&format!("{name}_{index}"), seed, |run| test(run, pattern.clone()));
    }
}

/// Makes tests of generic functions that run with each of several models.
///
/// `each_model! { [A, B]: 1 resets, 2 timing; }` makes a test `resets` that calls `resets::<A>(run)` and `resets::<B>(run)`
/// with seed 1, and one named `timing` with seed 2.
#[macro_export]
macro_rules! each_model {
    (@test [$($model:ty),+] $seed:literal $test:ident) => {
        #[test]
        fn $test() {
            spinneret_sim::test_run::run_test($seed, |run| {
                $(super::$test::<$model>(run);)+
            });
        }
    };
    ($($models:tt: $($seed:literal $test:ident),+;)+) => {
        mod each_model {
            use super::*;
            $($($crate::each_model!(@test $models $seed $test);)+)+
        }
    };
}

/// Makes a test of each generic function for each of several models, in a module for each model.
///
/// `test_models! { small: A, large: B; [resets, timing] }` makes `small::resets`, which calls `resets::<A>(run)` with seed 1,
/// and three more.
#[macro_export]
macro_rules! test_models {
    (@module $module:ident $model:ident [$($test:ident),+ $(,)?]) => {
        mod $module {
            use spinneret_models::$model;
            $(
                #[test]
                fn $test() {
                    spinneret_sim::test_run::run_test(1, super::$test::<$model>);
                }
            )+
        }
    };
    ($($module:ident: $model:ident),+; $tests:tt) => {
        $($crate::test_models!(@module $module $model $tests);)+
    };
}

/// Declares a struct of counts that can be added up.
#[macro_export]
macro_rules! counts {
    ($(#[$attribute:meta])* pub struct $name:ident {
        $($(#[$doc:meta])* pub $field:ident: $type:ty,)+
    }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            $($(#[$doc])* pub $field: $type,)+
        }

        impl std::ops::AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                $(self.$field += other.$field;)+
            }
        }
    };
}

/// Pauses of sources and of sinks that every block of streams is tested with.
pub fn patterns() -> Vec<(Pause, Pause)> {
    let half = Pause::Random { percent: 50 };
    let often = Pause::Random { percent: 80 };
    let seldom = Pause::Random { percent: 10 };
    let bursts = Pause::Bursty { busy: 20, idle: 20 };
    vec![
        (Pause::Never, Pause::Never),
        (half.clone(), Pause::Never),
        (Pause::Never, half.clone()),
        (half.clone(), half),
        (seldom.clone(), often.clone()),
        (often, seldom),
        (bursts.clone(), bursts.clone()),
        (Pause::Never, bursts),
    ]
}

/// A sink that is never ready.
pub const STALLED: Pause = Pause::AlwaysAfter(0);

/// The parameters that a model was generated with.
#[derive(Clone, Debug)]
pub struct Parameters {
    model: &'static str,
    values: Values,
}

impl Parameters {
    /// Reads the parameters of a model in the catalog.
    ///
    /// # Panics
    /// If there is no such model.
    pub fn of<M: Model>() -> Self {
        let mut models = catalog::simulated().into_iter();
        let found = models.find(|(name, _, _)| name == M::NAME);
        let (_, _, values) = found.unwrap_or_else(|| panic!("{} is not in the catalog", M::NAME));
        let model = M::NAME;
        Self { model, values }
    }

    /// The value of a parameter.
    ///
    /// # Panics
    /// If the model has no such parameter.
    pub fn get(&self, name: &str) -> u64 {
        let value = self.values.get(name).copied();
        value.unwrap_or_else(|| panic!("{} has no parameter {name}", self.model))
    }

    /// The parameters of the matching engine that the model is or contains.
    ///
    /// # Panics
    /// If it contains none.
    pub fn matcher(&self) -> MatcherParams {
        let size = |name| self.get(name) as usize;
        MatcherParams {
            data_width_bits: size("data_width"),
            rulesets: size("rulesets"),
            rules_per_ruleset: size("rules"),
            inspected_bytes: size("inspected_bytes"),
            ip_relative: self.get("ip_relative") == 1,
        }
    }
}

impl Deref for Parameters {
    type Target = Values;

    fn deref(&self) -> &Values {
        &self.values
    }
}
