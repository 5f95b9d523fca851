//! The Node packages of the tests that drive Trackway with clients and suites in JavaScript: one folder
//! for each generation of A2A, one for MCP, and one for a framework.
//!
//! The folders lie in `.tools`, are made once, and are made again when their list of packages changes or
//! when they stop working.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::process::{program, run, succeeds, variable};
use crate::repo;

/// One folder of packages.
#[derive(Debug)]
pub(crate) struct Packages {
    /// What the tests read. Set by hand, it is used as it is and nothing is installed.
    pub(crate) variable: &'static str,
    folder: &'static str,
    packages: &'static str,
    packages_path: &'static str,
    /// JavaScript that fails where something is missing.
    check: &'static str,
}

/// The newest generation, with what a server of it needs beside the client.
pub(crate) const NEWEST: Packages = Packages {
    variable: "TRACKWAY_TEST_JS_1_0",
    folder: ".tools/js-1.0",
    packages: include_str!("../js-1.0-packages.txt"),
    packages_path: "xtask/js-1.0-packages.txt",
    check: "require('@a2a-js/sdk/client'); require('@a2a-js/sdk/client/grpc');
        require('@a2a-js/sdk/server/express'); require('express')",
};

pub(crate) const FOLDERS: [Packages; 4] = [
    Packages {
        variable: "TRACKWAY_TEST_JS_0_3",
        folder: ".tools/js-0.3",
        packages: include_str!("../js-0.3-packages.txt"),
        packages_path: "xtask/js-0.3-packages.txt",
        check: "require('@a2a-js/sdk/client'); require('@a2a-js/sdk/client/grpc')",
    },
    NEWEST,
    // The inspector and the conformance suite need a newer Node than most machines have, so it comes
    // with them.
    Packages {
        variable: "TRACKWAY_TEST_MCP_JS",
        folder: ".tools/mcp-js",
        packages: include_str!("../mcp-js-packages.txt"),
        packages_path: "xtask/mcp-js-packages.txt",
        check: "const run = require('child_process').execFileSync;
            for (const script of ['conformance/dist', 'inspector/clients/launcher/build'])
                run('node_modules/node/bin/node',
                    [`node_modules/@modelcontextprotocol/${script}/index.js`, '--help'])",
    },
    Packages {
        variable: "TRACKWAY_TEST_VERCEL",
        folder: ".tools/vercel",
        packages: include_str!("../vercel-packages.txt"),
        packages_path: "xtask/vercel-packages.txt",
        check: "require.resolve('ai'); require('@ai-sdk/mcp').createMCPClient.call",
    },
];

/// Oldest Node that both generations of the client run on.
const NODE_MAJOR_MIN: u32 = 20;

/// Network and registry hiccups pass; a second failure is a real one.
const ATTEMPTS_MAX: u32 = 2;

impl Packages {
    /// Returns a folder from which the tests can load what they need.
    pub(crate) fn ensure(&self) -> Result<PathBuf> {
        let Self { variable: name, folder, packages, packages_path, check: _ } = self;
        if let Some(given) = variable(name) {
            eprintln!("Node: using {name} from the environment.");
            return Ok(given.into());
        }
        if self.is_ready() {
            eprintln!("Node: {folder} is ready.");
            return Ok(self.path());
        }
        check_node()?;
        let mut attempt = 1;
        while let Err(error) = self.create() {
            if attempt == ATTEMPTS_MAX {
                bail!(
                    "{error:#}\n\nThe Node packages of the tests could not be installed. They need the \
                     npm registry once. Behind a proxy or a mirror set npm's own variables \
                     (HTTPS_PROXY, npm_config_registry), or install the packages of {packages_path} \
                     yourself and set {name} to the folder that holds node_modules."
                );
            }
            eprintln!("Node: {error:#}; trying once more.");
            attempt += 1;
        }
        eprintln!("Node: made {folder} with {}.", packages.trim().replace('\n', ", "));
        Ok(self.path())
    }

    fn is_ready(&self) -> bool {
        let stamp = fs::read_to_string(self.stamp()).unwrap_or_default();
        stamp == self.packages && self.loads()
    }

    fn loads(&self) -> bool {
        succeeds(program("node").args(["-e", self.check]).current_dir(self.path()))
    }

    /// Makes the folder from nothing. The stamp comes last: a half-made one is never taken for ready.
    fn create(&self) -> Result<()> {
        let name = self.folder;
        let folder = self.path();
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| format!("removing the old {name}"))?;
        }
        fs::create_dir_all(&folder).with_context(|| format!("making {name}"))?;
        // Without it npm would look for one further up, and install there.
        fs::write(folder.join("package.json"), "{ \"private\": true }\n")
            .with_context(|| format!("writing package.json in {name}"))?;
        let install = ["install", "--no-audit", "--no-fund", "--silent", "--prefix", name];
        run(program("npm").args(install).args(self.packages.split_whitespace()))?;
        if !self.loads() {
            bail!("what npm installed into {name} cannot be loaded");
        }
        fs::write(self.stamp(), self.packages)
            .with_context(|| format!("writing the stamp in {name}"))
    }

    fn stamp(&self) -> PathBuf {
        self.path().join("trackway-packages.txt")
    }

    fn path(&self) -> PathBuf {
        repo::path(self.folder)
    }
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
