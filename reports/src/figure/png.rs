//! PNG of an SVG, at twice its size, with the shipped font.

use std::sync::{Arc, OnceLock};

use resvg::{
    tiny_skia::{Pixmap, Transform},
    usvg::{Options, Tree, fontdb::Database},
};

/// Pixels for each unit of the SVG.
const SCALE: f32 = 2.0;

fn fonts() -> Arc<Database> {
    static FONTS: OnceLock<Arc<Database>> = OnceLock::new();
    let loaded = FONTS.get_or_init(|| {
        let mut database = Database::new();
        database.load_font_data(super::font::BYTES.to_vec());
        Arc::new(database)
    });
    Arc::clone(loaded)
}

/// Renders `svg`.
pub(super) fn render(svg: &str) -> Result<Vec<u8>, String> {
    let options = Options {
        fontdb: fonts(),
        font_family: super::font::FAMILY.to_owned(),
        ..Options::default()
    };
    let tree = Tree::from_str(svg, &options).map_err(|error| error.to_string())?;
    let size = tree
        .size()
        .to_int_size()
        .scale_by(SCALE)
        .ok_or("the figure has no size")?;
    let mut pixels = Pixmap::new(size.width(), size.height()).ok_or("the figure has no size")?;
    resvg::render(
        &tree,
        Transform::from_scale(SCALE, SCALE),
        &mut pixels.as_mut(),
    );
    pixels.encode_png().map_err(|error| error.to_string())
}
