//! The page as a document that needs nothing else: live, or with a run inside.

/// The page; it reads the state from `RUN`, or asks for it where that is empty.
const PAGE: &str = include_str!("page.html");
/// Where the run stands in it.
const RUN: &str = "<!--run-->";

/// The page that asks for the state of the run.
pub(super) fn live() -> String {
    PAGE.replacen(RUN, "", 1)
}

/// The page of a run that is over, from its last state.
pub(super) fn saved(state: &str) -> String {
    // Within a script element only this could end it, and in JSON it may be written otherwise.
    let state = state.replace('<', "\\u003c");
    PAGE.replacen(RUN, &state, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_place_for_the_run() {
        assert_eq!(PAGE.matches(RUN).count(), 1);
        assert!(!live().contains(RUN));
    }

    #[test]
    fn what_handlers_print_cannot_leave_the_script() {
        let page = saved("{\"lines\":[\"</script><script>alert(1)</script>\"]}");
        assert!(page.contains("\\u003c/script>\\u003cscript>"));
        assert_eq!(
            page.matches("</script>").count(),
            PAGE.matches("</script>").count()
        );
    }
}
