//! Marks and lines that are told apart without colours.

use plotters::element::{Drawable, PointCollection};
use plotters::prelude::*;
use plotters_backend::{BackendCoord, DrawingErrorKind};
use std::iter::{Once, once};

/// A form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Circle,
    Triangle,
    Square,
    Diamond,
    Cross,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    pub(super) shape: Option<Shape>,
    pub(super) color: RGBColor,
    /// Forms are full or hollow.
    pub(super) is_full: bool,
    /// Width of the line between them.
    pub(super) line: Option<u32>,
    pub(super) is_dashed: bool,
}

/// A form somewhere.
#[derive(Clone, Debug)]
pub(super) struct Mark<C> {
    pub(super) at: C,
    pub(super) style: Style,
}

impl Shape {
    /// Corners around a middle.
    fn corners(self) -> &'static [(i32, i32)] {
        match self {
            Self::Circle => &[
                (-4, -2),
                (-2, -4),
                (2, -4),
                (4, -2),
                (4, 2),
                (2, 4),
                (-2, 4),
                (-4, 2),
                (-4, -2),
            ],
            Self::Triangle => &[(-5, 4), (0, -5), (5, 4), (-5, 4)],
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
