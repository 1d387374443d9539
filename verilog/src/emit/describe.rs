//! Short Rust-like text of syntax trees for error messages.

use rust_hdl::core::ast::{VerilogExpression, VerilogOp, VerilogOpUnary};

use super::literal;
use super::names;
use crate::lang::Field;

/// Longest text, in characters, before it is cut.
const LIMIT: usize = 72;

/// The expression as a line of Rust, cut when it is long.
pub(crate) fn expression(expression: &VerilogExpression) -> String {
    let mut text = String::new();
    write(expression, &mut text, 0);
    if text.chars().count() <= LIMIT {
        return text;
    }
    let mut short: String = text.chars().take(LIMIT - 2).collect();
    short.push_str("..");
    short
}

fn write(expression: &VerilogExpression, text: &mut String, depth: usize) {
    use VerilogExpression as E;
    if text.len() > 4 * LIMIT || depth > 64 {
        text.push_str("..");
        return;
    }
    let depth = depth + 1;
    let wrapped = |text: &mut String, open: &str, inner: &VerilogExpression, close: &str| {
        text.push_str(open);
        write(inner, text, depth);
        text.push_str(close);
    };
    match expression {
        E::Signal(_) if Field::find(expression).is_some() => {
            let at = Field::find(expression).map_or(0, |(_, at)| at);
            text.push_str(&at.to_string());
        }
        E::Signal(name) => text.push_str(&names::display(name.trim_start_matches('.'))),
        E::Literal(value) => {
            text.push_str(
                &literal::read(value).map_or_else(|| value.to_string(), |(value, _)| value.to_string()),
            );
        }
        E::Cast(inner, width) => wrapped(text, &format!("bit_cast::<{width}>("), inner, ")"),
        E::Signed(inner) => wrapped(text, "signed_cast(", inner, ")"),
        E::Unsigned(inner) => wrapped(text, "unsigned_cast(", inner, ")"),
        E::Paren(inner) => wrapped(text, "(", inner, ")"),
        E::Binary(left, op, right) => {
            write(left, text, depth);
            wrapped(text, &format!(" {} ", binary(op)), right, "");
        }
        E::Unary(op, inner) => match op {
            VerilogOpUnary::Not => wrapped(text, "!", inner, ""),
            VerilogOpUnary::Neg => wrapped(text, "-", inner, ""),
            VerilogOpUnary::All => wrapped(text, "", inner, ".all()"),
            VerilogOpUnary::Any => wrapped(text, "", inner, ".any()"),
            VerilogOpUnary::Xor => wrapped(text, "", inner, ".xor()"),
        },
        E::Index(inner, index) => {
            write(inner, text, depth);
            wrapped(text, ".get_bit(", index, ")");
        }
        E::Slice(inner, width, offset) => {
            write(inner, text, depth);
            wrapped(text, &format!(".get_bits::<{width}>("), offset, ")");
        }
        E::IndexReplace(inner, index, value) => {
            write(inner, text, depth);
            wrapped(text, ".replace_bit(", index, ", ");
            wrapped(text, "", value, ")");
        }
    }
}

fn binary(op: &VerilogOp) -> &'static str {
    match op {
        VerilogOp::Add => "+",
        VerilogOp::Sub => "-",
        VerilogOp::Mul => "*",
        VerilogOp::LogicalAnd => "&&",
        VerilogOp::LogicalOr => "||",
        VerilogOp::BitXor => "^",
        VerilogOp::BitAnd => "&",
        VerilogOp::BitOr => "|",
        VerilogOp::Shl => "<<",
        VerilogOp::Shr => ">>",
        VerilogOp::Eq => "==",
        VerilogOp::Lt => "<",
        VerilogOp::Le => "<=",
        VerilogOp::Ne => "!=",
        VerilogOp::Ge => ">=",
        VerilogOp::Gt => ">",
    }
}
