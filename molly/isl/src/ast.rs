//! Loops that visit the points of a set in an order: isl's code generation, as Rust values.

use crate::ffi::{self, Context, Error, Given, Result, object};
use crate::sets::{Set, UnionMap, Val};
use std::ffi::CStr;

/// Steps to execute, in this order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ast {
    /// One after the other.
    Block(Vec<Ast>),
    /// A loop: `variable` is `init`, and grows by `step` while `condition` holds.
    For {
        /// Name of the variable.
        variable: String,
        /// Its first value.
        init: Expr,
        /// While this is not 0. Nothing for a loop of exactly one turn.
        condition: Option<Expr>,
        /// The number that each turn adds.
        step: i64,
        /// The repeated steps.
        body: Box<Ast>,
    },
    /// One of two.
    If {
        /// If this is not 0,
        condition: Expr,
        /// this is done,
        then: Box<Ast>,
        /// else this.
        otherwise: Option<Box<Ast>>,
    },
    /// An instance: the name of its space and its coordinates.
    Call(String, Vec<Expr>),
}

/// An expression over 64-bit integers; conditions are 1 and 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expr {
    /// A number.
    Number(i64),
    /// A parameter or a loop's variable.
    Name(String),
    /// An operation.
    Op(Op, Vec<Expr>),
}

/// Operations of [`Expr`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// All are not 0.
    And,
    /// One is not 0.
    Or,
    /// The greatest.
    Max,
    /// The least.
    Min,
    /// One, negated.
    Neg,
    /// The sum of two.
    Add,
    /// The difference of two.
    Sub,
    /// The product of two.
    Mul,
    /// The quotient, rounded down.
    Div,
    /// The rest of that.
    Rem,
    /// The second if the first is not 0, else the third.
    Select,
    /// Equal.
    Eq,
    /// Less or equal.
    Le,
    /// Less.
    Lt,
    /// Greater or equal.
    Ge,
    /// Greater.
    Gt,
}

object!(Build, isl_ast_build, isl_ast_build_free);
object!(Node, isl_ast_node, isl_ast_node_free, copy isl_ast_node_copy, text isl_ast_node_to_C_str);
object!(Nodes, isl_ast_node_list, isl_ast_node_list_free);
object!(RawExpr, isl_ast_expr, isl_ast_expr_free, copy isl_ast_expr_copy, text isl_ast_expr_to_C_str);
object!(Id, isl_id, isl_id_free);

/// Loops that visit every instance of the domain of `schedule` once, in the order of its range, wherever the parameters are
/// in `context`.
///
/// # Errors
/// If an instance has more than one time, or the limit of operations is reached.
pub fn loops(schedule: UnionMap, context: Set) -> Result<Ast> {
    let owner = Context::current();
    // SAFETY: set and schedule are given away, the build stays, what comes is owned.
    let node = unsafe {
        let build = Build::own(ffi::isl_ast_build_from_context(context.give()), owner.clone())?;
        Node::own(
            ffi::isl_ast_build_node_from_schedule_map(build.keep(), schedule.give()),
            owner,
        )?
    };
    node.read()
}

/// Functions that read an object and return a part of it.
macro_rules! parts {
    ($name:ident: $($method:ident -> $out:ident = $function:ident;)*) => {
        impl $name {
            $(fn $method(&self) -> Result<$out> {
                // SAFETY: the object is valid and stays; its part is owned. isl checks the kind of the object.
                unsafe { $out::own(ffi::$function(self.keep()), self.context.clone()) }
            })*
        }
    };
}

parts! { Node:
    iterator -> RawExpr = isl_ast_node_for_get_iterator;
    init -> RawExpr = isl_ast_node_for_get_init;
    for_condition -> RawExpr = isl_ast_node_for_get_cond;
    step -> RawExpr = isl_ast_node_for_get_inc;
    body -> Node = isl_ast_node_for_get_body;
    if_condition -> RawExpr = isl_ast_node_if_get_cond;
    then -> Node = isl_ast_node_if_get_then_node;
    otherwise -> Node = isl_ast_node_if_get_else_node;
    children -> Nodes = isl_ast_node_block_get_children;
    marked -> Node = isl_ast_node_mark_get_node;
    call -> RawExpr = isl_ast_node_user_get_expr;
}

parts! { RawExpr:
    id -> Id = isl_ast_expr_get_id;
}

/// An error for output of isl that this wrapper does not support.
fn unexpected(what: &str, number: i32) -> Error {
    Error::Isl(format!("{what} {number} is unknown to this wrapper"))
}

impl Node {
    fn read(&self) -> Result<Ast> {
        // SAFETY: the node is valid and stays.
        match unsafe { ffi::isl_ast_node_get_type(self.keep()) } {
            1 => self.read_for(),
            2 => Ok(Ast::If {
                condition: self.if_condition()?.read()?,
                then: Box::new(self.then()?.read()?),
                // SAFETY: the node is valid and stays.
                otherwise: match unsafe { ffi::isl_ast_node_if_has_else_node(self.keep()) } {
                    1 => Some(Box::new(self.otherwise()?.read()?)),
                    _ => None,
                },
            }),
            3 => self.children()?.read().map(Ast::Block),
            4 => self.marked()?.read(),
            5 => match self.call()?.operands()? {
                operands if operands.is_empty() => Err(unexpected("a call with operands", 0)),
                operands => {
                    let arguments = operands[1..].iter().map(RawExpr::read).collect::<Result<_>>()?;
                    Ok(Ast::Call(operands[0].name()?, arguments))
                }
            },
            kind if kind < 0 => Err(self.context.error()),
            kind => Err(unexpected("a node of kind", kind)),
        }
    }

    fn read_for(&self) -> Result<Ast> {
        // SAFETY: the node is valid and stays.
        let degenerate = unsafe { ffi::isl_ast_node_for_is_degenerate(self.keep()) };
        let once = self.context.number(degenerate)? != 0;
        Ok(Ast::For {
            variable: self.iterator()?.name()?,
            init: self.init()?.read()?,
            condition: if once {
                None
            } else {
                Some(self.for_condition()?.read()?)
            },
            step: if once { 1 } else { self.step()?.number()? },
            body: Box::new(self.body()?.read()?),
        })
    }
}

impl Nodes {
    fn read(&self) -> Result<Vec<Ast>> {
        // SAFETY: the list is valid and stays.
        let count = self
            .context
            .number(unsafe { ffi::isl_ast_node_list_n_ast_node(self.keep()) })?;
        (0..count as i32)
            .map(|at| {
                // SAFETY: the list is valid and stays; its member is owned.
                unsafe {
                    Node::own(
                        ffi::isl_ast_node_list_get_ast_node(self.keep(), at),
                        self.context.clone(),
                    )
                }?
                .read()
            })
            .collect()
    }
}

impl RawExpr {
    fn read(&self) -> Result<Expr> {
        // SAFETY: the expression is valid and stays.
        match unsafe { ffi::isl_ast_expr_get_type(self.keep()) } {
            0 => {
                let operands = self.operands()?.iter().map(Self::read).collect::<Result<_>>()?;
                Ok(Expr::Op(self.operation()?, operands))
            }
            1 => self.name().map(Expr::Name),
            2 => self.number().map(Expr::Number),
            kind => Err(unexpected("an expression of kind", kind)),
        }
    }

    fn operation(&self) -> Result<Op> {
        // SAFETY: the expression is valid and stays.
        Ok(match unsafe { ffi::isl_ast_expr_get_op_type(self.keep()) } {
            0 | 1 => Op::And,
            2 | 3 => Op::Or,
            4 => Op::Max,
            5 => Op::Min,
            6 => Op::Neg,
            7 => Op::Add,
            8 => Op::Sub,
            9 => Op::Mul,
            // Exact, rounded down, or of what is not negative: one rule serves all three.
            10..=12 => Op::Div,
            // Of what is not negative, or compared with 0 only.
            13 | 14 => Op::Rem,
            15 | 16 => Op::Select,
            17 => Op::Eq,
            18 => Op::Le,
            19 => Op::Lt,
            20 => Op::Ge,
            21 => Op::Gt,
            other => return Err(unexpected("an operation", other)),
        })
    }

    fn operands(&self) -> Result<Vec<RawExpr>> {
        // SAFETY: the expression is valid and stays.
        let count = self
            .context
            .number(unsafe { ffi::isl_ast_expr_get_op_n_arg(self.keep()) })?;
        (0..count as i32)
            // SAFETY: as above; the operand is owned.
            .map(|at| unsafe { Self::own(ffi::isl_ast_expr_get_op_arg(self.keep(), at), self.context.clone()) })
            .collect()
    }

    fn name(&self) -> Result<String> {
        let id = self.id()?;
        // SAFETY: the name is null or belongs to the id, which lives until it is copied.
        unsafe {
            let name = ffi::isl_id_get_name(id.keep());
            match name.is_null() {
                true => Err(unexpected("a name of length", 0)),
                false => Ok(CStr::from_ptr(name).to_string_lossy().into_owned()),
            }
        }
    }

    fn number(&self) -> Result<i64> {
        // SAFETY: the expression is valid and stays; the value is owned.
        unsafe { Val::from_raw(ffi::isl_ast_expr_get_val(self.keep()), self.context.clone()) }?.number()
    }
}
