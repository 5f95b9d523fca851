//! Folders and files that nobody but their owner can open: a store holds what all tenants said, and the
//! credentials of their push notifications.

use std::{
    fs::{self, OpenOptions},
    io,
    path::Path,
};

/// Makes the folder where it is missing, and takes it from everybody but its owner. A folder of somebody
/// else, which cannot be changed, is used as it is.
pub fn make_private_folder(path: &Path) -> io::Result<()> {
    create(path)?;
    tighten(path, 0o700);
    Ok(())
}

/// How a file is opened that only its owner may read and write, if it is made by that.
pub fn private_file() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "there is no mode to set"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes the file where it is missing, and takes it from everybody but its owner.
pub(crate) fn make_private_file(path: &Path) -> io::Result<()> {
    private_file().write(true).create(true).truncate(false).open(path)?;
    tighten_file(path);
    Ok(())
}

/// Takes a file that may be there from everybody but its owner.
pub(crate) fn tighten_file(path: &Path) {
    tighten(path, 0o600);
}

#[cfg(unix)]
fn create(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

#[cfg(not(unix))]
fn create(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

/// Takes away what the mode does not have.
#[cfg(unix)]
fn tighten(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    const PERMISSIONS: u32 = 0o777;
    let Ok(found) = fs::metadata(path) else { return };
    let had = found.permissions().mode() & PERMISSIONS;
    if had & !mode == 0 {
        return;
    }
    if let Err(error) = fs::set_permissions(path, fs::Permissions::from_mode(had & mode)) {
        tracing::warn!(path = %path.display(), %error, "others can read this");
    }
}

#[cfg(not(unix))]
fn tighten(_path: &Path, _mode: u32) {}
