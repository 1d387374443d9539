//! A panel: axes, what is drawn between them, and a legend above.

use super::{Area, Axis, FONT, Painted};
use plotters::element::{DashedPathElement, Drawable, PointCollection};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters_backend::{BackendCoord, DrawingErrorKind};
use std::iter::{Once, once};

/// Height of a line of a legend, and room before its text.
const LINE: i32 = 20;
const SAMPLE: i32 = 42;
/// Between the end of a band and its name, as a share of the band.
const MARGIN: f64 = 0.01;
/// About the width of a letter.
const LETTER: i32 = 7;

/// Between a line above and one below, filled.
#[derive(Clone, Debug)]
pub struct Band {
    /// Its corners, all around.
    pub outline: Vec<(f64, f64)>,
    /// Its colour, of which it is a tint.
    pub color: RGBColor,
    /// Label at its right end, because tints are similar in print; may be empty.
    pub name: String,
}

/// Points, and how they are drawn.
#[derive(Clone, Debug)]
pub struct Series {
    /// Text in the legend; may be empty.
    pub name: String,
    /// How points are drawn.
    pub style: Style,
    /// From left to right.
    pub points: Vec<(f64, f64)>,
    /// A band behind them.
    pub band: Option<Band>,
    /// Text above each point; may be empty, or for the first points only.
    pub labels: Vec<String>,
}

/// Two axes with series, drawn in their order.
#[derive(Clone, Debug)]
pub struct Panel {
    /// Above everything; nothing if it is empty.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical one.
    pub y: Axis,
    /// Data of the plot.
    pub series: Vec<Series>,
}

impl Series {
    /// Points without a band.
    pub fn new(name: impl Into<String>, style: Style, points: Vec<(f64, f64)>) -> Self {
        Self {
            name: name.into(),
            style,
            points,
            band: None,
            labels: Vec::new(),
        }
    }
}

impl Band {
    /// Its name inside of its end on the right, in the middle between its lines.
    fn named(&self) -> Option<Text<'static, (f64, f64), String>> {
        let all = || self.outline.iter().map(|(x, _)| *x);
        let (left, right) = (all().reduce(f64::min)?, all().reduce(f64::max)?);
        let there = self.outline.iter().filter(|(x, _)| *x == right);
        let heights: Vec<f64> = there.map(|(_, y)| *y).collect();
        let middle = heights.iter().sum::<f64>() / heights.len() as f64;
        let inside = Pos::new(HPos::Right, VPos::Center);
        let style = (FONT, 12).into_text_style(&(0, 0)).pos(inside);
        let at = (right - (right - left) * MARGIN, middle);
        (!self.name.is_empty()).then(|| Text::new(self.name.clone(), at, style))
    }
}

impl Panel {
    /// Draws it, with the names of series that have one between title and axes.
    ///
    /// # Errors
    /// If drawing fails.
    pub fn draw(&self, area: &Area<'_>) -> Painted {
        let entries: Vec<(Style, &str)> = self
            .series
            .iter()
            .filter(|series| !series.name.is_empty())
            .map(|series| (series.style, &*series.name))
            .collect();
        let mut below = area.clone();
        if !self.title.is_empty() {
            let (title, rest) = below.split_vertically(32);
            let (middle, _) = title.dim_in_pixel();
            let centred = Pos::new(HPos::Center, VPos::Top);
            let style = (FONT, 18).into_text_style(&title).pos(centred);
            title.draw_text(&self.title, &style, (middle as i32 / 2, 10))?;
            below = rest;
        }
        let (width, _) = below.dim_in_pixel();
        let lines = places(&entries, width as i32)
            .last()
            .map_or(0, |(_, line)| line + 1);
        if lines > 0 {
            let (names, rest) = below.split_vertically(lines * LINE + 4);
            legend(&names, &entries)?;
            below = rest;
        }
        self.axes(&below)
    }

    fn axes(&self, area: &Area<'_>) -> Painted {
        let mut chart = ChartBuilder::on(area)
            .margin(10)
            .margin_right(18)
            .x_label_area_size(38)
            .y_label_area_size(60)
            .build_cartesian_2d(self.x.clone(), self.y.clone())?;
        chart
            .configure_mesh()
            .max_light_lines(0)
            .bold_line_style(RGBColor(225, 225, 225))
            .label_style((FONT, 13))
            .x_desc(&self.x.label)
            .y_desc(&self.y.label)
            .x_label_formatter(&|value| (self.x.words)(*value))
            .y_label_formatter(&|value| (self.y.words)(*value))
            .draw()?;
        for series in &self.series {
            if let Some(band) = &series.band {
                let outline = band.outline.clone();
                let name = band.named();
                chart.draw_series([Polygon::new(outline, band.color.mix(0.2))])?;
                chart.draw_series(name)?;
            }
            let style = series.style;
            let points = series.points.iter().copied();
            match style.line {
                Some(width) if style.is_dashed => {
                    let line = style.color.stroke_width(width);
                    chart.draw_series(DashedLineSeries::new(points.clone(), 7, 4, line))?;
                }
                Some(width) => {
                    let line = style.color.stroke_width(width);
                    chart.draw_series(LineSeries::new(points.clone(), line))?;
                }
                None => {}
            }
            if style.shape.is_some() {
                chart.draw_series(points.clone().map(|at| Mark { at, style }))?;
            }
            let above = (FONT, 12).into_text_style(&(0, 0)).color(&style.color);
            let above = above.pos(Pos::new(HPos::Center, VPos::Bottom));
            let labels = points.zip(&series.labels).filter(|(_, label)| !label.is_empty());
            chart.draw_series(labels.map(|(at, label)| {
                EmptyElement::at(at) + Text::new(label.clone(), (0, -6), above.clone())
            }))?;
        }
        Ok(())
    }
}

/// Where the entries of a legend begin, and in which line.
fn places(entries: &[(Style, &str)], width: i32) -> Vec<(i32, i32)> {
    let (mut x, mut line) = (0, 0);
    let room = |text: &str| SAMPLE + LETTER * text.chars().count() as i32 + 18;
    let place = |(_, text): &(Style, &str)| {
        if x > 0 && x + room(text) > width - SAMPLE {
            (x, line) = (0, line + 1);
        }
        let at = (x, line);
        x += room(text);
        at
    };
    entries.iter().map(place).collect()
}

/// Draws samples of styles, each with its name, in rows.
///
/// # Errors
/// If drawing fails.
pub fn legend(area: &Area<'_>, entries: &[(Style, &str)]) -> Painted {
    let (width, _) = area.dim_in_pixel();
    let font = (FONT, 13).into_font();
    for ((style, text), (x, line)) in entries.iter().zip(places(entries, width as i32)) {
        let (x, y) = (SAMPLE + x, 10 + LINE * line);
        let ends = [(x, y), (x + 28, y)];
        if let Some(width) = style.line {
            let line = style.color.stroke_width(width);
            match style.is_dashed {
                true => area.draw(&DashedPathElement::new(ends, 7, 4, line))?,
                false => area.draw(&PathElement::new(ends, line))?,
            }
        }
        if style.shape.is_none() && style.line.is_none() {
            let corners = [(x, y - 5), (x + 28, y + 5)];
            area.draw(&Rectangle::new(corners, style.color.mix(0.2).filled()))?;
        }
        let at = (x + 14, y);
        if style.shape.is_some_and(|shape| shape != Shape::Dot) {
            area.draw(&Mark { at, style: *style })?;
        }
        area.draw(&Text::new(
            (*text).to_owned(),
            (x + SAMPLE - 6, y - 7),
            font.clone(),
        ))?;
    }
    Ok(())
}

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
