//! Lines of the contract that hold in each configuration, with sizes at the borders of its slots and beats.

mod frames;
mod slots;

use crate::support::any_marked_with;
use spinneret_sim::model::Model;
use spinneret_sim::test_run::{TestRun, run_test};
use spinneret_tb::ingress::{Behaviour, IngressBench};

/// Tests a model in some cases.
macro_rules! tests {
    ($module:ident, $model:ident: $($file:ident::$case:ident),*) => {
        mod $module {
            use spinneret_models::$model;
            $(
                #[test]
                fn $case() {
                    super::run_test(1, super::$file::$case::<$model>);
                }
            )*
        }
    };
}

/// Tests a model in each case.
macro_rules! test_each_case {
    ($module:ident, $model:ident) => {
        tests!(
            $module, $model:
            frames::every_size_is_delivered_intact_with_its_exact_length,
            frames::as_many_beats_as_a_small_slot_has_take_one,
            frames::bad_and_oversize_frames_are_dropped_whole,
            frames::a_last_beat_without_bytes_is_no_error,
            frames::impossible_tkeep_drops_matched_frames_and_nothing_else,
            frames::unmatched_frames_pass_untouched_and_in_order,
            slots::hers_carry_message_ids_lengths_and_the_context_that_serves,
            slots::refused_bursts_drop_their_packets_alone,
            slots::all_slots_are_given_out_once_and_come_back,
            slots::wrong_frees_are_refused_and_change_nothing,
            slots::a_reset_in_every_cycle_of_a_frame_leaves_nothing_behind
        );
    };
}

test_each_case!(reference, PspinIngressDatapath);
test_each_case!(small, PspinIngressDatapathSmall);
test_each_case!(stall, PspinIngressDatapathStall);
test_each_case!(board, PspinIngressDatapathBoard);

/// A path that matches packets by their first byte, without pauses.
fn marked<M: Model>(run: &mut TestRun) -> IngressBench<M> {
    any_marked_with(run, Behaviour::default())
}
