//! Lines on pages.

use krilla::{
    Document,
    color::rgb,
    geom::{PathBuilder, Point},
    metadata::Metadata,
    page::PageSettings,
    paint::Stroke,
    surface::Surface,
};

use super::{
    PdfError,
    page_layout::{MARGIN, PAGE_HEIGHT, PAGE_WIDTH, PageLine},
    pdf_fonts::{FontSet, TextStyle},
};

const NUMBER_SIZE: f32 = 8.0;
/// Distance of the page number from the lower edge.
const NUMBER_RISE: f32 = 30.0;
/// Distance from the top of a line to its baseline, relative to the font size.
const ASCENT: f32 = 1.05;
/// Lines that must fit below a heading; otherwise the heading moves to the next page.
const KEPT_LINES: f32 = 3.0;

pub(super) fn render_pdf(fonts: &FontSet, title: &str, lines: &[PageLine]) -> Result<Vec<u8>, PdfError> {
    let pages = split_into_pages(lines);
    let settings = PageSettings::from_wh(PAGE_WIDTH, PAGE_HEIGHT)
        .ok_or_else(|| PdfError::new("the page has no size"))?;
    let mut document = Document::new();
    document.set_metadata(Metadata::new().title(title.to_owned()).producer("Trackway".to_owned()));
    for (number, placed) in pages.iter().enumerate() {
        let mut page = document.start_page_with(settings.clone());
        let mut surface = page.surface();
        for (y, line) in placed {
            draw_line(&mut surface, fonts, *y, line);
        }
        let label = format!("{} / {}", number + 1, pages.len());
        let width = fonts.text_width(&label, TextStyle::default()) * NUMBER_SIZE;
        let x = (PAGE_WIDTH - width) / 2.0;
        draw_text(
            &mut surface,
            fonts,
            (x, PAGE_HEIGHT - NUMBER_RISE),
            &label,
            TextStyle::default(),
            NUMBER_SIZE,
        );
        surface.finish();
        page.finish();
    }
    document.finish().map_err(|error| PdfError::new(format!("{error:?}")))
}

/// The lines of each page, each with the distance of its top from the top of the page.
fn split_into_pages(lines: &[PageLine]) -> Vec<Vec<(f32, &PageLine)>> {
    let bottom = PAGE_HEIGHT - MARGIN;
    let mut pages: Vec<Vec<(f32, &PageLine)>> = vec![Vec::new()];
    let mut y = MARGIN;
    for line in lines {
        let is_first = pages.last().is_none_or(Vec::is_empty);
        let above = if is_first { 0.0 } else { line.above };
        let kept = if line.leads { line.line_height() * KEPT_LINES } else { 0.0 };
        if !is_first && y + above + line.line_height() + kept > bottom {
            pages.push(Vec::new());
            y = MARGIN;
        } else {
            y += above;
        }
        if let Some(page) = pages.last_mut() {
            page.push((y, line));
        }
        y += line.line_height();
    }
    pages
}

fn draw_line(surface: &mut Surface<'_>, fonts: &FontSet, y: f32, line: &PageLine) {
    if line.rule {
        draw_horizontal_rule(surface, y + line.line_height() / 2.0);
    }
    for piece in &line.pieces {
        let at = (MARGIN + piece.x, y + line.size * ASCENT);
        draw_text(surface, fonts, at, &piece.text, piece.style, line.size);
    }
}

fn draw_text(
    surface: &mut Surface<'_>,
    fonts: &FontSet,
    (mut x, y): (f32, f32),
    text: &str,
    style: TextStyle,
    size: f32,
) {
    for set in fonts.shape_text(text, style) {
        surface.draw_glyphs(Point::from_xy(x, y), &set.glyphs, set.font, &set.text, size, false);
        x += set.width * size;
    }
}

fn draw_horizontal_rule(surface: &mut Surface<'_>, y: f32) {
    let mut path = PathBuilder::new();
    path.move_to(MARGIN, y);
    path.line_to(PAGE_WIDTH - MARGIN, y);
    let Some(path) = path.finish() else { return };
    surface.set_fill(None);
    surface.set_stroke(Some(Stroke {
        paint: rgb::Color::new(160, 160, 160).into(),
        width: 0.5,
        ..Stroke::default()
    }));
    surface.draw_path(&path);
    surface.set_stroke(None);
}
