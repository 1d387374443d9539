//! The functions of isl that are used, as its headers declare them (isl 0.25).
//!
//! What isl's headers call `__isl_take` is owned by isl afterwards, `__isl_keep` stays with the caller, `__isl_give` is the
//! caller's from then on. All functions accept null for an object and answer null or an error then.

use std::ffi::{c_char, c_int, c_long, c_uint, c_ulong};

macro_rules! opaque {
    ($($name:ident)*) => { $(
        #[repr(C)]
        #[derive(Debug)]
        pub(crate) struct $name { _private: [u8; 0] }
    )* };
}

opaque!(isl_ctx isl_set isl_map isl_union_map isl_map_list isl_basic_set isl_basic_set_list isl_union_access_info isl_union_flow isl_point
    isl_val isl_mat isl_id isl_space isl_basic_map isl_ast_build isl_ast_node isl_ast_node_list isl_ast_expr);

/// `ISL_ON_ERROR_CONTINUE`: errors are answers, and nothing is printed.
pub(crate) const ON_ERROR_CONTINUE: c_int = 1;
/// `isl_error_quota`: the limit of operations was reached.
pub(crate) const ERROR_QUOTA: c_int = 6;

macro_rules! declare {
    ($(fn $name:ident($($arg:ty),*) $(-> $out:ty)?;)*) => {
        #[link(name = "isl")]
        unsafe extern "C" {
            $(pub(crate) fn $name($(_: $arg),*) $(-> $out)?;)*
        }
    };
}

declare! {
    fn isl_ctx_alloc() -> *mut isl_ctx;
    fn isl_ctx_free(*mut isl_ctx);
    fn isl_options_set_on_error(*mut isl_ctx, c_int) -> c_int;
    fn isl_options_set_coalesce_preserve_locals(*mut isl_ctx, c_int) -> c_int;
    fn isl_ctx_last_error(*mut isl_ctx) -> c_int;
    fn isl_ctx_last_error_msg(*mut isl_ctx) -> *const c_char;
    fn isl_ctx_reset_error(*mut isl_ctx);
    fn isl_ctx_set_max_operations(*mut isl_ctx, c_ulong);
    fn isl_ctx_reset_operations(*mut isl_ctx);

    fn isl_set_read_from_str(*mut isl_ctx, *const c_char) -> *mut isl_set;
    fn isl_set_copy(*mut isl_set) -> *mut isl_set;
    fn isl_set_free(*mut isl_set) -> *mut isl_set;
    fn isl_set_to_str(*mut isl_set) -> *mut c_char;
    fn isl_set_union(*mut isl_set, *mut isl_set) -> *mut isl_set;
    fn isl_set_intersect(*mut isl_set, *mut isl_set) -> *mut isl_set;
    fn isl_set_subtract(*mut isl_set, *mut isl_set) -> *mut isl_set;
    fn isl_set_coalesce(*mut isl_set) -> *mut isl_set;
    fn isl_set_apply(*mut isl_set, *mut isl_map) -> *mut isl_set;
    fn isl_set_flatten(*mut isl_set) -> *mut isl_set;
    fn isl_set_unwrap(*mut isl_set) -> *mut isl_map;
    fn isl_set_lexmax(*mut isl_set) -> *mut isl_set;
    fn isl_set_identity(*mut isl_set) -> *mut isl_map;
    fn isl_set_project_out(*mut isl_set, c_int, c_uint, c_uint) -> *mut isl_set;
    fn isl_set_sample_point(*mut isl_set) -> *mut isl_point;
    fn isl_set_get_basic_set_list(*mut isl_set) -> *mut isl_basic_set_list;
    fn isl_basic_set_list_n_basic_set(*mut isl_basic_set_list) -> c_int;
    fn isl_basic_set_list_get_basic_set(*mut isl_basic_set_list, c_int) -> *mut isl_basic_set;
    fn isl_basic_set_list_free(*mut isl_basic_set_list) -> *mut isl_basic_set_list;
    fn isl_basic_set_free(*mut isl_basic_set) -> *mut isl_basic_set;
    fn isl_basic_set_remove_redundancies(*mut isl_basic_set) -> *mut isl_basic_set;
    fn isl_basic_set_equalities_matrix(*mut isl_basic_set, c_int, c_int, c_int, c_int) -> *mut isl_mat;
    fn isl_basic_set_inequalities_matrix(*mut isl_basic_set, c_int, c_int, c_int, c_int) -> *mut isl_mat;
    fn isl_space_alloc(*mut isl_ctx, c_uint, c_uint, c_uint) -> *mut isl_space;
    fn isl_space_set_alloc(*mut isl_ctx, c_uint, c_uint) -> *mut isl_space;
    fn isl_space_set_tuple_name(*mut isl_space, c_int, *const c_char) -> *mut isl_space;
    fn isl_space_free(*mut isl_space) -> *mut isl_space;
    fn isl_basic_set_from_constraint_matrices(*mut isl_space, *mut isl_mat, *mut isl_mat, c_int, c_int, c_int, c_int)
        -> *mut isl_basic_set;
    fn isl_basic_map_from_constraint_matrices(
        *mut isl_space, *mut isl_mat, *mut isl_mat, c_int, c_int, c_int, c_int, c_int
    ) -> *mut isl_basic_map;
    fn isl_set_empty(*mut isl_space) -> *mut isl_set;
    fn isl_map_empty(*mut isl_space) -> *mut isl_map;
    fn isl_map_from_basic_map(*mut isl_basic_map) -> *mut isl_map;
    fn isl_mat_alloc(*mut isl_ctx, c_uint, c_uint) -> *mut isl_mat;
    fn isl_mat_set_element_si(*mut isl_mat, c_int, c_int, c_int) -> *mut isl_mat;
    fn isl_mat_rows(*mut isl_mat) -> c_int;
    fn isl_mat_cols(*mut isl_mat) -> c_int;
    fn isl_mat_get_element_val(*mut isl_mat, c_int, c_int) -> *mut isl_val;
    fn isl_mat_free(*mut isl_mat) -> *mut isl_mat;
    fn isl_set_make_disjoint(*mut isl_set) -> *mut isl_set;
    fn isl_set_simple_hull(*mut isl_set) -> *mut isl_basic_set;
    fn isl_set_flat_product(*mut isl_set, *mut isl_set) -> *mut isl_set;
    fn isl_set_from_basic_set(*mut isl_basic_set) -> *mut isl_set;
    fn isl_set_is_empty(*mut isl_set) -> c_int;
    fn isl_set_remove_divs(*mut isl_set) -> *mut isl_set;
    fn isl_set_is_subset(*mut isl_set, *mut isl_set) -> c_int;
    fn isl_set_is_equal(*mut isl_set, *mut isl_set) -> c_int;
    fn isl_set_dim(*mut isl_set, c_int) -> c_int;

    fn isl_map_read_from_str(*mut isl_ctx, *const c_char) -> *mut isl_map;
    fn isl_map_copy(*mut isl_map) -> *mut isl_map;
    fn isl_map_free(*mut isl_map) -> *mut isl_map;
    fn isl_map_to_str(*mut isl_map) -> *mut c_char;
    fn isl_map_union(*mut isl_map, *mut isl_map) -> *mut isl_map;
    fn isl_map_intersect(*mut isl_map, *mut isl_map) -> *mut isl_map;
    fn isl_map_intersect_domain(*mut isl_map, *mut isl_set) -> *mut isl_map;
    fn isl_map_intersect_range(*mut isl_map, *mut isl_set) -> *mut isl_map;
    fn isl_map_subtract(*mut isl_map, *mut isl_map) -> *mut isl_map;
    fn isl_map_coalesce(*mut isl_map) -> *mut isl_map;
    fn isl_map_reverse(*mut isl_map) -> *mut isl_map;
    fn isl_map_domain(*mut isl_map) -> *mut isl_set;
    fn isl_map_range(*mut isl_map) -> *mut isl_set;
    fn isl_map_apply_domain(*mut isl_map, *mut isl_map) -> *mut isl_map;
    fn isl_map_apply_range(*mut isl_map, *mut isl_map) -> *mut isl_map;
    fn isl_map_product(*mut isl_map, *mut isl_map) -> *mut isl_map;
    fn isl_map_range_product(*mut isl_map, *mut isl_map) -> *mut isl_map;
    fn isl_map_flatten(*mut isl_map) -> *mut isl_map;
    fn isl_map_wrap(*mut isl_map) -> *mut isl_set;
    fn isl_map_lexmin(*mut isl_map) -> *mut isl_map;
    fn isl_map_lexmax(*mut isl_map) -> *mut isl_map;
    fn isl_map_get_tuple_name(*mut isl_map, c_int) -> *const c_char;
    fn isl_map_set_tuple_name(*mut isl_map, c_int, *const c_char) -> *mut isl_map;
    fn isl_map_range_factor_domain(*mut isl_map) -> *mut isl_map;
    fn isl_map_is_empty(*mut isl_map) -> c_int;
    fn isl_map_is_single_valued(*mut isl_map) -> c_int;
    fn isl_map_is_equal(*mut isl_map, *mut isl_map) -> c_int;
    fn isl_map_dim(*mut isl_map, c_int) -> c_int;

    fn isl_union_map_read_from_str(*mut isl_ctx, *const c_char) -> *mut isl_union_map;
    fn isl_union_map_from_map(*mut isl_map) -> *mut isl_union_map;
    fn isl_union_map_copy(*mut isl_union_map) -> *mut isl_union_map;
    fn isl_union_map_free(*mut isl_union_map) -> *mut isl_union_map;
    fn isl_union_map_to_str(*mut isl_union_map) -> *mut c_char;
    fn isl_union_map_union(*mut isl_union_map, *mut isl_union_map) -> *mut isl_union_map;
    fn isl_union_map_get_map_list(*mut isl_union_map) -> *mut isl_map_list;
    fn isl_map_list_n_map(*mut isl_map_list) -> c_int;
    fn isl_map_list_get_map(*mut isl_map_list, c_int) -> *mut isl_map;
    fn isl_map_list_free(*mut isl_map_list) -> *mut isl_map_list;

    fn isl_union_access_info_from_sink(*mut isl_union_map) -> *mut isl_union_access_info;
    fn isl_union_access_info_free(*mut isl_union_access_info) -> *mut isl_union_access_info;
    fn isl_union_access_info_set_must_source(*mut isl_union_access_info, *mut isl_union_map)
        -> *mut isl_union_access_info;
    fn isl_union_access_info_set_schedule_map(*mut isl_union_access_info, *mut isl_union_map)
        -> *mut isl_union_access_info;
    fn isl_union_access_info_compute_flow(*mut isl_union_access_info) -> *mut isl_union_flow;
    fn isl_union_flow_get_full_must_dependence(*mut isl_union_flow) -> *mut isl_union_map;
    fn isl_union_flow_get_must_no_source(*mut isl_union_flow) -> *mut isl_union_map;
    fn isl_union_flow_free(*mut isl_union_flow) -> *mut isl_union_flow;

    fn isl_point_is_void(*mut isl_point) -> c_int;
    fn isl_point_get_coordinate_val(*mut isl_point, c_int, c_int) -> *mut isl_val;
    fn isl_point_free(*mut isl_point) -> *mut isl_point;
    fn isl_val_is_int(*mut isl_val) -> c_int;
    fn isl_val_get_num_si(*mut isl_val) -> c_long;
    fn isl_val_cmp_si(*mut isl_val, c_long) -> c_int;
    fn isl_val_free(*mut isl_val) -> *mut isl_val;
    fn isl_id_get_name(*mut isl_id) -> *const c_char;
    fn isl_id_free(*mut isl_id) -> *mut isl_id;

    fn isl_ast_build_from_context(*mut isl_set) -> *mut isl_ast_build;
    fn isl_ast_build_free(*mut isl_ast_build) -> *mut isl_ast_build;
    fn isl_ast_build_node_from_schedule_map(*mut isl_ast_build, *mut isl_union_map) -> *mut isl_ast_node;
    fn isl_ast_node_copy(*mut isl_ast_node) -> *mut isl_ast_node;
    fn isl_ast_node_free(*mut isl_ast_node) -> *mut isl_ast_node;
    fn isl_ast_node_to_C_str(*mut isl_ast_node) -> *mut c_char;
    fn isl_ast_node_get_type(*mut isl_ast_node) -> c_int;
    fn isl_ast_node_for_get_iterator(*mut isl_ast_node) -> *mut isl_ast_expr;
    fn isl_ast_node_for_get_init(*mut isl_ast_node) -> *mut isl_ast_expr;
    fn isl_ast_node_for_get_cond(*mut isl_ast_node) -> *mut isl_ast_expr;
    fn isl_ast_node_for_get_inc(*mut isl_ast_node) -> *mut isl_ast_expr;
    fn isl_ast_node_for_get_body(*mut isl_ast_node) -> *mut isl_ast_node;
    fn isl_ast_node_for_is_degenerate(*mut isl_ast_node) -> c_int;
    fn isl_ast_node_if_get_cond(*mut isl_ast_node) -> *mut isl_ast_expr;
    fn isl_ast_node_if_get_then_node(*mut isl_ast_node) -> *mut isl_ast_node;
    fn isl_ast_node_if_has_else_node(*mut isl_ast_node) -> c_int;
    fn isl_ast_node_if_get_else_node(*mut isl_ast_node) -> *mut isl_ast_node;
    fn isl_ast_node_block_get_children(*mut isl_ast_node) -> *mut isl_ast_node_list;
    fn isl_ast_node_list_n_ast_node(*mut isl_ast_node_list) -> c_int;
    fn isl_ast_node_list_get_ast_node(*mut isl_ast_node_list, c_int) -> *mut isl_ast_node;
    fn isl_ast_node_list_free(*mut isl_ast_node_list) -> *mut isl_ast_node_list;
    fn isl_ast_node_mark_get_node(*mut isl_ast_node) -> *mut isl_ast_node;
    fn isl_ast_node_user_get_expr(*mut isl_ast_node) -> *mut isl_ast_expr;
    fn isl_ast_expr_copy(*mut isl_ast_expr) -> *mut isl_ast_expr;
    fn isl_ast_expr_free(*mut isl_ast_expr) -> *mut isl_ast_expr;
    fn isl_ast_expr_to_C_str(*mut isl_ast_expr) -> *mut c_char;
    fn isl_ast_expr_get_type(*mut isl_ast_expr) -> c_int;
    fn isl_ast_expr_get_op_type(*mut isl_ast_expr) -> c_int;
    fn isl_ast_expr_get_op_n_arg(*mut isl_ast_expr) -> c_int;
    fn isl_ast_expr_get_op_arg(*mut isl_ast_expr, c_int) -> *mut isl_ast_expr;
    fn isl_ast_expr_get_id(*mut isl_ast_expr) -> *mut isl_id;
    fn isl_ast_expr_get_val(*mut isl_ast_expr) -> *mut isl_val;
}

// The C library's, for the strings that isl gives.
unsafe extern "C" {
    pub(crate) fn free(memory: *mut std::ffi::c_void);
}
