//! The Python environment of the tests that drive Trackway with the official A2A client.
//!
//! It lies in `.tools/python`, is made once, and is made again when `python-requirements.txt`
//! changes or when it stops working (a moved checkout, a removed interpreter).

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::process::{program, run, succeeds, variable};
use crate::repo;

/// What the tests read. Set by hand, it is used as it is and nothing is installed.
pub(crate) const VARIABLE: &str = "TRACKWAY_TEST_PYTHON";

const FOLDER: &str = ".tools/python";
const REQUIREMENTS: &str = include_str!("../python-requirements.txt");
const REQUIREMENTS_PATH: &str = "xtask/python-requirements.txt";
/// Network and index hiccups pass; a second failure is a real one.
const ATTEMPTS_MAX: u32 = 2;

/// Returns an interpreter that can import what the tests need.
pub(crate) fn ensure() -> Result<PathBuf> {
    if let Some(given) = variable(VARIABLE) {
        eprintln!("Python: using {VARIABLE} from the environment.");
        return Ok(given.into());
    }
    if is_ready() {
        eprintln!("Python: {FOLDER} is ready.");
        return Ok(interpreter());
    }
    let system = find_system_python()?;
    ensure_venv_module(system)?;
    let mut attempt = 1;
    while let Err(error) = create(system) {
        if attempt == ATTEMPTS_MAX {
            bail!(
                "{error:#}\n\nThe Python environment of the tests could not be made. It needs PyPI \
                 once. Behind a proxy or a mirror set pip's own variables (HTTPS_PROXY, \
                 PIP_INDEX_URL), or make an environment from {REQUIREMENTS_PATH} yourself and set \
                 {VARIABLE} to its interpreter."
            );
        }
        eprintln!("Python: {error:#}; trying once more.");
        attempt += 1;
    }
    eprintln!("Python: made {FOLDER} with {}.", REQUIREMENTS.trim().replace('\n', ", "));
    Ok(interpreter())
}

fn is_ready() -> bool {
    let stamp = fs::read_to_string(stamp()).unwrap_or_default();
    stamp == REQUIREMENTS && imports_work()
}

fn imports_work() -> bool {
    succeeds(program(interpreter()).args(["-c", "import a2a.client, httpx"]))
}

fn find_system_python() -> Result<&'static str> {
    // The client needs 3.10; asking for it here gives a better message than pip's.
    let version_check = "import sys; sys.exit(sys.version_info < (3, 10))";
    ["python3", "python"]
        .into_iter()
        .find(|name| succeeds(program(name).args(["-c", version_check])))
        .context(
            "Python 3.10 or newer is needed for the A2A client test and was not found. Install it \
             (Debian, Ubuntu: apt-get install python3 python3-venv; macOS: brew install python) and \
             run this again",
        )
}

/// Debian splits `venv` from Python; everywhere else it is simply there.
fn ensure_venv_module(system: &str) -> Result<()> {
    let present = || succeeds(program(system).args(["-c", "import venv, ensurepip"]));
    if present() {
        return Ok(());
    }
    eprintln!("Python: the venv module is missing; trying to install python3-venv with apt-get.");
    let mut tried = run(program("apt-get").arg("update"));
    if tried.is_ok() {
        let mut install = program("apt-get");
        install.env("DEBIAN_FRONTEND", "noninteractive");
        tried = run(install.args(["install", "-y", "python3-venv"]));
    }
    if let Err(error) = tried {
        eprintln!("Python: {error:#}");
    }
    if present() {
        return Ok(());
    }
    bail!(
        "Python's venv module is missing; install it (Debian, Ubuntu: sudo apt-get install \
         python3-venv) and run this again"
    )
}

/// Makes the environment from nothing. The stamp comes last: a half-made one is never taken for ready.
fn create(system: &str) -> Result<()> {
    let folder = repo::path(FOLDER);
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("removing the old {FOLDER}"))?;
    }
    run(program(system).args(["-m", "venv", FOLDER]))?;
    let pip = ["-m", "pip", "--disable-pip-version-check", "install", "--quiet"];
    run(program(interpreter()).args(pip).args(["--requirement", REQUIREMENTS_PATH]))?;
    if !imports_work() {
        bail!("what pip installed into {FOLDER} cannot be imported");
    }
    fs::write(stamp(), REQUIREMENTS).with_context(|| format!("writing the stamp in {FOLDER}"))
}

fn stamp() -> PathBuf {
    repo::path(FOLDER).join("trackway-requirements.txt")
}

fn interpreter() -> PathBuf {
    let inside = if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" };
    repo::path(FOLDER).join(inside)
}
