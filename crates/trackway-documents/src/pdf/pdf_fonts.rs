//! The fonts: the widths of their letters, and which font has a letter.

use krilla::text::{Font, GlyphId, KrillaGlyph};
use ttf_parser::Face;

use super::PdfError;

/// How a piece of text looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct TextStyle {
    pub(super) bold: bool,
    pub(super) italic: bool,
    pub(super) mono: bool,
}

impl TextStyle {
    pub(super) const BOLD: Self = Self { bold: true, italic: false, mono: false };
    pub(super) const MONO: Self = Self { bold: false, italic: false, mono: true };

    /// The index of its font.
    const fn font_index(self) -> usize {
        match self {
            Self { mono: true, .. } => 3,
            Self { bold: true, .. } => 1,
            Self { italic: true, .. } => 2,
            Self { .. } => REGULAR,
        }
    }
}

const REGULAR: usize = 0;

/// One font, parsed for its tables and as embedded in a document.
struct LoadedFont {
    face: Face<'static>,
    font: Font,
}

pub(super) struct FontSet {
    cuts: [LoadedFont; 4],
}

/// A piece of text in one font.
pub(super) struct GlyphRun {
    pub(super) font: Font,
    pub(super) text: String,
    pub(super) glyphs: Vec<KrillaGlyph>,
    /// Relative to the font size.
    pub(super) width: f32,
}

impl FontSet {
    pub(super) fn load_embedded_fonts() -> Result<Self, PdfError> {
        Ok(Self {
            cuts: [
                load_font(dejavu::sans::regular())?,
                load_font(dejavu::sans::bold())?,
                load_font(dejavu::sans::oblique())?,
                load_font(dejavu::sans_mono::regular())?,
            ],
        })
    }

    /// The width of a letter, relative to the font size.
    pub(super) fn char_width(&self, character: char, style: TextStyle) -> f32 {
        let (cut, glyph) = self.find_glyph(character, style);
        self.glyph_advance(cut, glyph)
    }

    pub(super) fn text_width(&self, text: &str, style: TextStyle) -> f32 {
        text.chars().map(|letter| self.char_width(letter, style)).sum()
    }

    /// The text, split into one piece per font.
    pub(super) fn shape_text(&self, text: &str, style: TextStyle) -> Vec<GlyphRun> {
        let mut pieces: Vec<(usize, GlyphRun)> = Vec::new();
        for letter in text.chars() {
            let (cut, glyph) = self.find_glyph(letter, style);
            if pieces.last().is_none_or(|(last, _)| *last != cut) {
                let font = self.cuts[cut].font.clone();
                let set = GlyphRun { font, text: String::new(), glyphs: Vec::new(), width: 0.0 };
                pieces.push((cut, set));
            }
            let Some((_, piece)) = pieces.last_mut() else { continue };
            let start = piece.text.len();
            piece.text.push(letter);
            let advance = self.glyph_advance(cut, glyph);
            piece.width += advance;
            let range = start..piece.text.len();
            let id = GlyphId::new(u32::from(glyph));
            piece.glyphs.push(KrillaGlyph::new(id, advance, 0.0, 0.0, 0.0, range, None));
        }
        pieces.into_iter().map(|(_, piece)| piece).collect()
    }

    /// The letter in the font of its style, else in the font with most letters, else an empty box.
    fn find_glyph(&self, character: char, style: TextStyle) -> (usize, u16) {
        let wanted = style.font_index();
        for cut in [wanted, REGULAR] {
            if let Some(glyph) = self.cuts[cut].face.glyph_index(character) {
                return (cut, glyph.0);
            }
        }
        (wanted, 0)
    }

    fn glyph_advance(&self, font_index: usize, glyph: u16) -> f32 {
        let face = &self.cuts[font_index].face;
        let units = face.glyph_hor_advance(ttf_parser::GlyphId(glyph)).unwrap_or(0);
        f32::from(units) / f32::from(face.units_per_em())
    }
}

fn load_font(bytes: &'static [u8]) -> Result<LoadedFont, PdfError> {
    let face = Face::parse(bytes, 0).map_err(|error| PdfError::new(error.to_string()))?;
    let font = Font::new(bytes.into(), 0).ok_or_else(|| PdfError::new("a font is not readable"))?;
    Ok(LoadedFont { face, font })
}
