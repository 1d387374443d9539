//! Marks and lines that are told apart without colours.

use plotters::element::{Drawable, PointCollection};
use plotters::prelude::*;
use plotters_backend::{BackendCoord, DrawingErrorKind};
use std::iter::{Once, once};

/// A form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A circle.
    Circle,
    /// A small circle.
    Dot,
    /// A triangle.
    Triangle,
    /// A triangle that stands on its tip.
    Tip,
    /// A square.
    Square,
    /// A square on its corner.
    Diamond,
    /// An X.
    Cross,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// The form at each point.
    pub shape: Option<Shape>,
    /// Of forms and lines.
    pub color: RGBColor,
    /// Forms are full or hollow.
    pub is_full: bool,
    /// Width of the line between them.
    pub line: Option<u32>,
    /// Whether that line is dashed.
    pub is_dashed: bool,
}

/// A form somewhere.
#[derive(Clone, Debug)]
pub(super) struct Mark<C> {
    pub(super) at: C,
    pub(super) style: Style,
}

impl Style {
    /// A line of that colour.
    pub fn line(color: RGBColor) -> Self {
        Self {
            shape: None,
            color,
            is_full: true,
            line: Some(2),
            is_dashed: false,
        }
    }

    /// The same, dashed.
    pub fn dashed(color: RGBColor) -> Self {
        Self {
            is_dashed: true,
            ..Self::line(color)
        }
    }

    /// With forms at its points, too.
    pub fn with(self, shape: Shape) -> Self {
        Self {
            shape: Some(shape),
            ..self
        }
    }

    /// Hollow forms without a line, as what was published elsewhere has them.
    pub fn published(shape: Shape) -> Self {
        Self {
            shape: Some(shape),
            color: super::PUBLISHED,
            is_full: false,
            line: None,
            is_dashed: false,
        }
    }

    /// The same with a dashed line, for a value that was published for all points.
    pub fn published_line(shape: Shape) -> Self {
        Self {
            line: Some(2),
            is_dashed: true,
            ..Self::published(shape)
        }
    }

    /// Only what is between two lines.
    pub fn area(color: RGBColor) -> Self {
        Self {
            line: None,
            ..Self::line(color)
        }
    }
}

impl Shape {
    /// Corners around a middle.
    fn corners(self) -> &'static [(i32, i32)] {
        match self {
            Self::Circle | Self::Dot => &[],
            Self::Triangle => &[(-5, 4), (0, -5), (5, 4), (-5, 4)],
            Self::Tip => &[(-5, -4), (0, 5), (5, -4), (-5, -4)],
            Self::Square => &[(-4, -4), (4, -4), (4, 4), (-4, 4), (-4, -4)],
            Self::Diamond => &[(-5, 0), (0, -5), (5, 0), (0, 5), (-5, 0)],
            Self::Cross => &[(-3, -3), (3, 3), (0, 0), (-3, 3), (3, -3)],
        }
    }
}

impl<'m, C> PointCollection<'m, C> for &'m Mark<C> {
    type Point = &'m C;
    type IntoIter = Once<&'m C>;

    fn point_iter(self) -> Once<&'m C> {
        once(&self.at)
    }
}

impl<C, B: DrawingBackend> Drawable<B> for Mark<C> {
    fn draw<I: Iterator<Item = BackendCoord>>(
        &self,
        points: I,
        backend: &mut B,
        _: (u32, u32),
    ) -> Result<(), DrawingErrorKind<B::ErrorType>> {
        let Some(shape) = self.style.shape else {
            return Ok(());
        };
        for (x, y) in points {
            if let Shape::Circle | Shape::Dot = shape {
                let inside = if self.style.is_full {
                    self.style.color
                } else {
                    WHITE
                };
                let is_dot = shape == Shape::Dot;
                backend.draw_circle((x, y), if is_dot { 2 } else { 4 }, &inside, true)?;
                if !is_dot {
                    backend.draw_circle((x, y), 4, &self.style.color.stroke_width(1), false)?;
                }
                continue;
            }
            let corners = || shape.corners().iter().map(|(right, down)| (x + right, y + down));
            if shape != Shape::Cross {
                let inside = if self.style.is_full {
                    self.style.color
                } else {
                    WHITE
                };
                backend.fill_polygon(corners(), &inside)?;
            }
            backend.draw_path(corners(), &self.style.color.stroke_width(1))?;
        }
        Ok(())
    }
}
