//! Sets and relations.

use crate::ffi::{self, Context, Error, Given, Result, asking, object, taking};
use crate::reader::read;
use std::ffi::{CStr, CString};

/// `isl_dim_in`, `isl_dim_out` and `isl_dim_set`.
pub(crate) const IN: i32 = 2;
pub(crate) const OUT: i32 = 3;
pub(crate) const SET: i32 = 3;

object!(
    /// A set of integer points in one space (`isl_set`).
    pub Set, isl_set, isl_set_free, copy isl_set_copy, text isl_set_to_str
);
object!(
    /// A relation between the points of two spaces (`isl_map`).
    pub Map, isl_map, isl_map_free, copy isl_map_copy, text isl_map_to_str
);
object!(
    /// Relations between any spaces (`isl_union_map`).
    pub UnionMap, isl_union_map, isl_union_map_free, copy isl_union_map_copy, text isl_union_map_to_str
);
object!(Point, isl_point, isl_point_free);
object!(pub(crate) Val, isl_val, isl_val_free);
object!(AccessInfo, isl_union_access_info, isl_union_access_info_free);
object!(Flow, isl_union_flow, isl_union_flow_free);
object!(pub(crate) BasicSetList, isl_basic_set_list, isl_basic_set_list_free);
object!(MapList, isl_map_list, isl_map_list_free);

taking! { Set:
    /// Points of either.
    union(other: Set) -> Set = isl_set_union();
    /// Points of both.
    intersect(other: Set) -> Set = isl_set_intersect();
    /// Points of the first only.
    subtract(other: Set) -> Set = isl_set_subtract();
    /// The same points with fewer conditions, where isl finds them.
    coalesce() -> Set = isl_set_coalesce();
    /// The points to which `map` relates these points.
    apply(map: Map) -> Set = isl_set_apply();
    /// With points more, if conditions have divisions: without these conditions.
    without_divisions() -> Set = isl_set_remove_divs();
    /// The same points in parts that have none in common.
    disjoint() -> Set = isl_set_make_disjoint();
    /// Without nesting: `[A -> B]` is `[a, b]`.
    flatten() -> Set = isl_set_flatten();
    /// A set of pairs as a relation.
    unwrap() -> Map = isl_set_unwrap();
    /// The last point in the order of the coordinates, for all values of parameters.
    lexmax() -> Set = isl_set_lexmax();
    /// Every point to itself.
    identity() -> Map = isl_set_identity();
    /// Without coordinates `first` to `first + count`: points for which there is some value of them.
    project_out(first: u32, count: u32) -> Set = isl_set_project_out(SET);
}

taking! { Map:
    /// Pairs of either.
    union(other: Map) -> Map = isl_map_union();
    /// Pairs of both.
    intersect(other: Map) -> Map = isl_map_intersect();
    /// Pairs whose first is in a set.
    intersect_domain(set: Set) -> Map = isl_map_intersect_domain();
    /// Pairs whose second is in a set.
    intersect_range(set: Set) -> Map = isl_map_intersect_range();
    /// Pairs of the first only.
    subtract(other: Map) -> Map = isl_map_subtract();
    /// The same pairs with fewer conditions, where isl finds them.
    coalesce() -> Map = isl_map_coalesce();
    /// Pairs turned round.
    reverse() -> Map = isl_map_reverse();
    /// The firsts.
    domain() -> Set = isl_map_domain();
    /// The seconds.
    range() -> Set = isl_map_range();
    /// The firsts replaced by what `other` relates them to.
    apply_domain(other: Map) -> Map = isl_map_apply_domain();
    /// The seconds replaced by what `other` relates them to.
    apply_range(other: Map) -> Map = isl_map_apply_range();
    /// `[A -> C] -> [B -> D]` of `A -> B` and `C -> D`.
    product(other: Map) -> Map = isl_map_product();
    /// `A -> [B -> C]` of `A -> B` and `A -> C`.
    range_product(other: Map) -> Map = isl_map_range_product();
    /// Without nesting on either side.
    flatten() -> Map = isl_map_flatten();
    /// A set of pairs.
    wrap() -> Set = isl_map_wrap();
    /// For each first the first of its seconds.
    lexmin() -> Map = isl_map_lexmin();
    /// For each first the last of its seconds.
    lexmax() -> Map = isl_map_lexmax();
    /// `A -> B` of `A -> [B -> C]`.
    range_factor_domain() -> Map = isl_map_range_factor_domain();
}

taking! { UnionMap:
    /// Pairs of either.
    union(other: UnionMap) -> UnionMap = isl_union_map_union();
}

asking! { Set:
    /// Whether there is no point.
    is_empty() = isl_set_is_empty;
    /// Whether both have the same points.
    is_equal(other: &Set) = isl_set_is_equal;
    /// Whether the other one has all points of this.
    is_subset(other: &Set) = isl_set_is_subset;
}

asking! { Map:
    /// Whether each first has at most one second.
    is_single_valued() = isl_map_is_single_valued;
    /// Whether there is no pair.
    is_empty() = isl_map_is_empty;
    /// Whether both have the same pairs.
    is_equal(other: &Map) = isl_map_is_equal;
}

/// A string for isl.
pub(crate) fn c_string(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::Text)
}

macro_rules! parsing {
    ($name:ident, $function:ident $(, $built:ident)?) => {
        impl $name {
            /// Parses isl's notation.
            ///
            /// The text has to be made by a program: isl's messages about a wrong one say nothing of where.
            ///
            /// # Errors
            /// If it is not isl's notation.
            pub fn parse(text: &str) -> Result<Self> {
                let (context, c_text) = (Context::current(), c_string(text)?);
                $(if let Some(built) = read(text).and_then(|found| Self::$built(&found, &context)) {
                    return built;
                })?
                // SAFETY: context and text are valid; the answer is null or owned.
                let read = || unsafe { ffi::$function(context.raw(), c_text.as_ptr()) };
                let raw = read();
                if raw.is_null() {
                    // SAFETY: as above, once more.
                    let again = || unsafe { Self::own(read(), context.clone()).is_ok() };
                    return Err(context.reading_error(text, again));
                }
                // SAFETY: the answer is owned.
                unsafe { Self::own(raw, context) }
            }
        }
    };
}
parsing!(Set, isl_set_read_from_str, built);
parsing!(Map, isl_map_read_from_str, built);
parsing!(UnionMap, isl_union_map_read_from_str);

impl Set {
    /// Number of coordinates.
    ///
    /// # Errors
    /// None that a valid set can have.
    pub fn dims(&self) -> Result<usize> {
        // SAFETY: the set is valid and stays.
        self.context.number(unsafe { ffi::isl_set_dim(self.keep(), SET) })
    }

    /// Parts without holes that together are the set, and may overlap.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn parts(&self) -> Result<Vec<Self>> {
        let context = &self.context;
        // SAFETY: the set stays, the list is owned.
        let list =
            unsafe { BasicSetList::own(ffi::isl_set_get_basic_set_list(self.keep()), context.clone())? };
        // SAFETY: the list is valid and stays.
        let count = context.number(unsafe { ffi::isl_basic_set_list_n_basic_set(list.keep()) })?;
        let part = |at| {
            // SAFETY: the list stays, its member is owned and given away, what comes is owned.
            unsafe {
                let part = ffi::isl_basic_set_list_get_basic_set(list.keep(), at);
                Self::own(ffi::isl_set_from_basic_set(part), context.clone())
            }
        };
        (0..count as i32).map(part).collect()
    }

    /// A set of one part around all points.
    ///
    /// # Errors
    /// If the limit of operations is reached.
    pub fn hull(self) -> Result<Self> {
        let context = self.context.clone();
        // SAFETY: the set is given away; the answer is owned.
        unsafe {
            Self::own(
                ffi::isl_set_from_basic_set(ffi::isl_set_simple_hull(self.give())),
                context,
            )
        }
    }

    /// Pairs of a point of `first` and one of this set, as one point.
    ///
    /// # Errors
    /// If the limit of operations is reached.
    pub fn beside(self, first: Self) -> Result<Self> {
        let context = self.context.clone();
        // SAFETY: both sets are given away; the answer is owned.
        unsafe { Self::own(ffi::isl_set_flat_product(first.give(), self.give()), context) }
    }

    /// Some point of the set, if there is one with coordinates of 64 bits.
    ///
    /// # Errors
    /// If the limit of operations is reached.
    pub fn sample(&self) -> Result<Option<Vec<i64>>> {
        let (dims, context) = (self.dims()?, self.context.clone());
        // SAFETY: the copy is given away, the point is owned.
        let point = unsafe { Point::own(ffi::isl_set_sample_point(self.clone().give()), context.clone())? };
        // SAFETY: the point is valid and stays.
        if context.number(unsafe { ffi::isl_point_is_void(point.keep()) })? != 0 {
            return Ok(None);
        }
        let coordinate = |at: usize| {
            // SAFETY: the point is valid and stays; the value is owned.
            unsafe {
                Val::own(
                    ffi::isl_point_get_coordinate_val(point.keep(), SET, at as i32),
                    context.clone(),
                )?
            }
            .number()
        };
        (0..dims).map(coordinate).collect::<Result<_>>().map(Some)
    }
}

impl Val {
    /// A value from one of isl's functions.
    ///
    /// # Safety
    /// `raw` is null or an owned value of this thread's context.
    pub(crate) unsafe fn from_raw(raw: *mut ffi::isl_val, context: Context) -> Result<Self> {
        // SAFETY: as the caller says.
        unsafe { Self::own(raw, context) }
    }

    /// The value, if it is an integer of 64 bits.
    pub(crate) fn number(&self) -> Result<i64> {
        // SAFETY: the value is valid and stays.
        unsafe {
            let number = ffi::isl_val_get_num_si(self.keep());
            let is_number =
                ffi::isl_val_is_int(self.keep()) == 1 && ffi::isl_val_cmp_si(self.keep(), number) == 0;
            match is_number {
                true => Ok(number),
                false => Err(Error::Isl("a number of more than 64 bits".to_owned())),
            }
        }
    }
}

impl Map {
    /// Number of coordinates of the firsts and of the seconds.
    ///
    /// # Errors
    /// None that a valid relation can have.
    pub fn dims(&self) -> Result<(usize, usize)> {
        // SAFETY: the relation is valid and stays.
        let (domain, range) = unsafe {
            (
                ffi::isl_map_dim(self.keep(), IN),
                ffi::isl_map_dim(self.keep(), OUT),
            )
        };
        Ok((self.context.number(domain)?, self.context.number(range)?))
    }

    /// The name of the space of the firsts, if it has one.
    pub fn domain_name(&self) -> Option<String> {
        self.name(IN)
    }

    /// The name of the space of the seconds, if it has one.
    pub fn range_name(&self) -> Option<String> {
        self.name(OUT)
    }

    /// With this name for the space of the firsts.
    ///
    /// # Errors
    /// If the name has a zero byte.
    pub fn named_domain(self, name: &str) -> Result<Self> {
        let (context, name) = (self.context.clone(), c_string(name)?);
        // SAFETY: the relation is given away, the name is copied; the answer is owned.
        unsafe {
            Self::own(
                ffi::isl_map_set_tuple_name(self.give(), IN, name.as_ptr()),
                context,
            )
        }
    }

    fn name(&self, side: i32) -> Option<String> {
        // SAFETY: the relation is valid and stays; the name belongs to it and is copied at once.
        unsafe {
            let name = ffi::isl_map_get_tuple_name(self.keep(), side);
            (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy().into_owned())
        }
    }
}

impl From<Map> for UnionMap {
    fn from(map: Map) -> Self {
        let context = map.context.clone();
        // SAFETY: the relation is given away; the answer is owned.
        let union = unsafe { Self::own(ffi::isl_union_map_from_map(map.give()), context) };
        union.expect("a relation is a union of one")
    }
}

impl UnionMap {
    /// The relations, one for each pair of spaces.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn maps(&self) -> Result<Vec<Map>> {
        let context = &self.context;
        // SAFETY: the union stays, the list is owned.
        let list = unsafe { MapList::own(ffi::isl_union_map_get_map_list(self.keep()), context.clone())? };
        // SAFETY: the list is valid and stays.
        let count = context.number(unsafe { ffi::isl_map_list_n_map(list.keep()) })?;
        (0..count as i32)
            // SAFETY: the list stays, its member is another count of the relation, and owned.
            .map(|at| unsafe { Map::own(ffi::isl_map_list_get_map(list.keep(), at), context.clone()) })
            .collect()
    }
}

/// Which write each read reads: `writer -> [reader -> element]`, the last one before it in the order of `schedule`; and reads
/// without a write before them, `reader -> element`.
///
/// `reads` and `writes` relate instances to elements, `schedule` instances to points of one space of time.
///
/// # Errors
/// If the limit of operations is reached.
pub fn last_writers(reads: UnionMap, writes: UnionMap, schedule: UnionMap) -> Result<(UnionMap, UnionMap)> {
    let context = reads.context.clone();
    // SAFETY: every object is given away in one call and owned from another; the flow stays until its end.
    unsafe {
        let info = AccessInfo::own(
            ffi::isl_union_access_info_from_sink(reads.give()),
            context.clone(),
        )?;
        let info = ffi::isl_union_access_info_set_must_source(info.give(), writes.give());
        let info = AccessInfo::own(info, context.clone())?;
        let info = ffi::isl_union_access_info_set_schedule_map(info.give(), schedule.give());
        let info = AccessInfo::own(info, context.clone())?;
        let flow = Flow::own(
            ffi::isl_union_access_info_compute_flow(info.give()),
            context.clone(),
        )?;
        let written = ffi::isl_union_flow_get_full_must_dependence(flow.keep());
        let written = UnionMap::own(written, context.clone())?;
        let rest = UnionMap::own(ffi::isl_union_flow_get_must_no_source(flow.keep()), context)?;
        Ok((written, rest))
    }
}
