//! Computation while messages come: one short point, of which everything must add up.

use spinneret_nic::mpi::{Acts, Exchange, Multiplication, Overlapped, PaperType, Prices, overlap};
use std::time::Duration;

fn measure(prices: &[Prices]) -> Overlapped {
    let how = Exchange {
        window: 64,
        warm_up: Some(PaperType::Complex.layout(1).expect("it has a layout")),
        ..Exchange::of(vec![PaperType::Complex.layout(1).expect("it has a layout")])
    };
    overlap(&how, &Multiplication::PAPER, prices).unwrap_or_else(|error| panic!("{error}"))
}

/// One message, which is less than the paper's shortest. What the host did has its price, and that is the time that is not
/// computation, but for the rounding of clocks.
#[test]
fn a_host_computes_while_a_message_comes() {
    let prices = [Prices::STATED, Prices::STATED.times(10)];
    let done = measure(&prices);
    assert_eq!(done.alone.bytes, 110_592);
    assert!(done.alone.gbps() > 4.0, "{done:?}");
    assert_eq!(done.trials.len(), prices.len());
    for (trial, prices) in done.trials.iter().zip(prices) {
        assert_eq!(trial.prices, prices);
        assert!((15..=20).contains(&trial.multiplications), "{trial:?}");
        let acts = Acts {
            // One at the start, one in each test, one for the end of announcements at most.
            looks: u64::from(trial.multiplications) + 1,
            words_seen: u64::from(trial.multiplications),
            words_written: 3,
            words_read: 0,
            frames: 1,
        };
        assert_eq!(trial.acts, acts, "{trial:?}");
        let slack = Duration::from_nanos(500);
        assert!(trial.polling() >= acts.price(&prices), "{trial:?}");
        assert!(trial.polling() <= acts.price(&prices) + slack, "{trial:?}");
        let multiplication = Multiplication::PAPER.time(trial.dimension);
        let computed = multiplication * trial.multiplications;
        assert!(
            trial.computed >= computed && trial.computed <= computed + slack,
            "{trial:?}"
        );
        assert!(trial.elapsed >= done.alone.time - slack, "{done:?}");
        // The host notices the end by the next look.
        assert!(
            trial.elapsed <= done.alone.time + multiplication + trial.polling() + slack,
            "{done:?}"
        );
    }
    assert!(done.trials[0].ratio() > 0.97, "{done:?}");
    assert!(done.trials[1].ratio() < done.trials[0].ratio(), "{done:?}");
}
