//! Folders and files that only their owner can open: a store holds the messages of all tenants, and the
//! credentials of their push notifications.

use std::{
    fs::{self, OpenOptions},
    io,
    path::Path,
};

/// Creates the folder if it is missing, and removes the access of everyone except its owner. A folder of
/// another owner, which cannot be changed, is used unchanged.
pub fn create_private_folder(path: &Path) -> io::Result<()> {
    create_folder(path)?;
    restrict_permissions(path, 0o700);
    Ok(())
}

/// Options for a file that, if it is created, only its owner can read and write.
pub fn private_file_options() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "there is no mode to set"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Creates the file if it is missing, and removes the access of everyone except its owner.
pub(crate) fn create_private_file(path: &Path) -> io::Result<()> {
    private_file_options().write(true).create(true).truncate(false).open(path)?;
    restrict_file_permissions(path);
    Ok(())
}

/// Removes the access of everyone except the owner, if the file exists.
pub(crate) fn restrict_file_permissions(path: &Path) {
    restrict_permissions(path, 0o600);
}

#[cfg(unix)]
fn create_folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

#[cfg(not(unix))]
fn create_folder(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

/// Removes the permissions that are not in `mode`.
#[cfg(unix)]
fn restrict_permissions(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    const PERMISSIONS: u32 = 0o777;
    let Ok(found) = fs::metadata(path) else { return };
    let had = found.permissions().mode() & PERMISSIONS;
    if had & !mode == 0 {
        return;
    }
    if let Err(error) = fs::set_permissions(path, fs::Permissions::from_mode(had & mode)) {
        tracing::warn!(path = %path.display(), %error, "other users can read this path");
    }
}

#[cfg(not(unix))]
fn restrict_permissions(_path: &Path, _mode: u32) {}
