//! What several tests use.

use spinneret_sim::prelude::*;

/// Runs a test of every model of the block.
#[macro_export]
macro_rules! each_model {
    ($seed:literal, $test:ident) => {
        spinneret_sim::test_run::run_test($seed, |run| {
            $test::<spinneret_models::PspinCtrlRegs>(run);
            $test::<spinneret_models::PspinCtrlRegsBoard>(run);
            $test::<spinneret_models::PspinCtrlRegsOdd>(run);
        });
    };
}

/// What a write was answered.
pub(crate) fn response(done: LiteWriteDone) -> Response {
    done.response
}

/// What a read was answered.
pub(crate) fn answer(done: LiteReadDone) -> (u64, Response) {
    (done.data, done.response)
}
