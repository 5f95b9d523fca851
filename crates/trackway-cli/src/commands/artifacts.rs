//! `trackway artifacts …`: the files that users attach and store and that runs make.

use std::{
    fs,
    io::{self, IsTerminal as _, Read as _, Write},
    path::Path,
};

use trackway::{
    api::ArtifactVersion,
    artifacts::{ArtifactListQuery, ArtifactLookup, NewArtifact},
};
use trackway_domain::{ArtifactFilename, ArtifactScope};
use trackway_ports::ArtifactCursor;

use crate::{
    args::{
        ArtifactPlaceArgs, ArtifactsCommand, GetArtifactArgs, ListArtifactsArgs, PutArtifactArgs,
        RemoveArtifactArgs, ShowArtifactArgs,
    },
    artifacts_client::{self, ArtifactsClient},
    cli_error::CliError,
    exit_status::ExitStatus,
    output_streams, text_format,
};

/// Versions that `show` prints; the rest is in the REST API.
/// Limit (CLI): versions of an artifact that are shown.
const SHOWN_VERSIONS_MAX: usize = 500;

pub(super) async fn run_artifacts_command(command: ArtifactsCommand) -> Result<ExitStatus, CliError> {
    match command {
        ArtifactsCommand::List(args) => list_artifacts(args).await,
        ArtifactsCommand::Show(args) => show_artifact(args).await,
        ArtifactsCommand::Get(args) => get_artifact(args).await,
        ArtifactsCommand::Put(args) => put_artifact(args).await,
        ArtifactsCommand::Rm(args) => remove_artifact(args).await,
    }
}

async fn list_artifacts(args: ListArtifactsArgs) -> Result<ExitStatus, CliError> {
    let client = ArtifactsClient::open_for_reading(&args.target)?;
    let query = ArtifactListQuery {
        scope: args.scope,
        session: args.session,
        prefix: args.prefix,
        tag: args.tag,
        after: args.cursor.map(ArtifactCursor),
        ..ArtifactListQuery::new(args.limit.into())
    };
    let listed = client.list_artifacts(&query).await;
    client.close().await;
    let page = listed?;
    if args.json {
        output_streams::write_stdout_json_line(&page)?;
        return Ok(ExitStatus::Done);
    }
    if page.items.is_empty() {
        output_streams::print_stderr_note("No artifacts.");
        return Ok(ExitStatus::Done);
    }
    print_table(["NAME", "VERSION", "SCOPE", "BYTES", "TYPE", "CREATED"], &page.items, |item| {
        [
            item.filename.clone(),
            item.version.to_string(),
            format_scope(item),
            item.size_bytes.to_string(),
            item.media_type.clone(),
            text_format::strip_timestamp_fraction(&item.created_at),
        ]
    })?;
    if let Some(next) = page.next {
        output_streams::print_stderr_note(&format!("hint: there are more: --cursor {next}"));
    }
    Ok(ExitStatus::Done)
}

async fn show_artifact(args: ShowArtifactArgs) -> Result<ExitStatus, CliError> {
    let client = ArtifactsClient::open_for_reading(&args.target)?;
    let listed = client.list_versions(&lookup(args.name, args.place, None), SHOWN_VERSIONS_MAX).await;
    client.close().await;
    let page = listed?;
    if args.json {
        output_streams::write_stdout_json_line(&page)?;
        return Ok(ExitStatus::Done);
    }
    let Some(newest) = page.items.first() else { return Ok(ExitStatus::Done) };
    let mut rows = vec![("Artifact", newest.filename.clone()), ("Scope", format_scope(newest))];
    rows.extend(newest.run_id.map(|run| ("Run", run.to_string())));
    rows.push(("Type", newest.media_type.clone()));
    if !newest.tags.is_empty() {
        rows.push(("Tags", newest.tags.join(", ")));
    }
    if !newest.metadata.is_empty() {
        let metadata = serde_json::Value::Object(newest.metadata.clone()).to_string();
        rows.push(("Metadata", text_format::truncate_text(&metadata, 400)));
    }
    let rows: Vec<_> = rows.into_iter().map(|(name, value)| vec![name.to_owned(), value]).collect();
    print_lines(&text_format::align_table_columns(&rows))?;
    output_streams::write_stdout_line("")?;
    print_table(["VERSION", "BYTES", "TYPE", "CREATED", "SHA-256"], &page.items, |item| {
        [
            item.version.to_string(),
            item.size_bytes.to_string(),
            item.media_type.clone(),
            text_format::strip_timestamp_fraction(&item.created_at),
            item.sha256.clone().unwrap_or_else(|| "-".to_owned()),
        ]
    })?;
    if page.next.is_some() {
        output_streams::print_stderr_note("hint: there are older versions");
    }
    Ok(ExitStatus::Done)
}

async fn get_artifact(args: GetArtifactArgs) -> Result<ExitStatus, CliError> {
    let client = ArtifactsClient::open_for_reading(&args.target)?;
    let lookup = lookup(args.name, args.place, args.version);
    let written = write_content(&client, &lookup, args.output.as_deref()).await;
    client.close().await;
    written?;
    Ok(ExitStatus::Done)
}

/// The file is created when there is content for it.
async fn write_content(
    client: &ArtifactsClient,
    lookup: &ArtifactLookup,
    output: Option<&Path>,
) -> Result<(), CliError> {
    let mut download = client.open_download(lookup).await?;
    let cannot_write = |path: &Path, error: &io::Error| {
        CliError::new(format!("{} cannot be written", path.display())).with_cause(error)
    };
    match output {
        Some(path) => {
            let mut file = fs::File::create(path).map_err(|error| cannot_write(path, &error))?;
            while let Some(chunk) = download.next_chunk().await? {
                file.write_all(&chunk).map_err(|error| cannot_write(path, &error))?;
            }
            file.sync_all().map_err(|error| cannot_write(path, &error))
        }
        None if io::stdout().is_terminal() => {
            // Content of others may contain anything, and a terminal obeys.
            let mut content = Vec::new();
            while let Some(chunk) = download.next_chunk().await? {
                content.extend_from_slice(&chunk);
            }
            let text = std::str::from_utf8(&content).map_err(|_| {
                CliError::new("the content is not text").with_hint("write it to a file: --output FILE")
            })?;
            Ok(output_streams::write_stdout_text(&text_format::replace_control_chars(text))?)
        }
        None => {
            let mut stdout = io::stdout().lock();
            while let Some(chunk) = download.next_chunk().await? {
                stdout.write_all(&chunk)?;
            }
            Ok(stdout.flush()?)
        }
    }
}

async fn put_artifact(args: PutArtifactArgs) -> Result<ExitStatus, CliError> {
    let filename = match (&args.name, args.file.file_name()) {
        (Some(name), _) => name.clone(),
        (None, Some(name)) if args.file != Path::new("-") => ArtifactFilename::new(&name.to_string_lossy())
            .map_err(|error| {
            CliError::from_error(&error)
                .with_hint("give it another name with --name")
                .with_exit_status(ExitStatus::Usage)
        })?,
        _ => {
            return Err(CliError::new("the artifact needs a name")
                .with_hint("give it one with --name")
                .with_exit_status(ExitStatus::Usage));
        }
    };
    let scope = artifacts_client::resolve_scope(args.scope, args.run, args.session.as_ref())?;
    let bytes = read_input(&args.file)?;
    let new = NewArtifact {
        media_type: args.media_type,
        tags: args.tag,
        only_if_absent: args.if_absent,
        ..NewArtifact::new(filename, scope, bytes)
    };
    let client = ArtifactsClient::open_for_storing(&args.target)?;
    let stored = client.store_artifact(new).await;
    client.close().await;
    let stored = stored?;
    if args.json {
        output_streams::write_stdout_json_line(&stored)?;
    } else {
        let line = format!("{} version {}", stored.filename, stored.version);
        output_streams::write_stdout_line(&text_format::replace_control_chars(&line))?;
    }
    Ok(ExitStatus::Done)
}

fn read_input(file: &Path) -> Result<Vec<u8>, CliError> {
    let read = if file == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        fs::read(file)
    };
    read.map_err(|error| {
        CliError::new(format!("{} cannot be read", file.display()))
            .with_cause(&error)
            .with_exit_status(ExitStatus::Usage)
    })
}

async fn remove_artifact(args: RemoveArtifactArgs) -> Result<ExitStatus, CliError> {
    let scope = artifacts_client::resolve_scope(args.scope, args.run, args.session.as_ref())?;
    let place = match &scope {
        ArtifactScope::Run(run) => ArtifactPlaceArgs { run: Some(*run), session: None, scope: None },
        ArtifactScope::Session(session) => {
            ArtifactPlaceArgs { run: None, session: Some(session.clone()), scope: None }
        }
        ArtifactScope::User | ArtifactScope::Tenant => {
            ArtifactPlaceArgs { run: None, session: None, scope: None }
        }
    };
    let place = ArtifactPlaceArgs { scope: Some(scope.kind()), ..place };
    let client = ArtifactsClient::open_for_removing(&args.target)?;
    let removed = client.remove_artifact(&lookup(args.name, place, args.version)).await;
    client.close().await;
    removed?;
    Ok(ExitStatus::Done)
}

fn lookup(filename: ArtifactFilename, place: ArtifactPlaceArgs, version: Option<u32>) -> ArtifactLookup {
    let ArtifactPlaceArgs { session, run, scope } = place;
    ArtifactLookup { filename, run, session, scope, version }
}

/// `session s1`, `user`.
fn format_scope(item: &ArtifactVersion) -> String {
    use trackway_domain::ArtifactScopeKind::{Run, Session, Tenant, User};
    let id = match item.scope {
        Run => item.run_id.map(|run| run.to_string()),
        Session => item.session_id.as_ref().map(|session| session.to_string()),
        User | Tenant => None,
    };
    id.map_or_else(|| item.scope.to_string(), |id| format!("{} {id}", item.scope))
}

fn print_table<const N: usize>(
    head: [&str; N],
    items: &[ArtifactVersion],
    row: impl Fn(&ArtifactVersion) -> [String; N],
) -> io::Result<()> {
    let head = head.map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> =
        std::iter::once(head).chain(items.iter().map(|item| row(item).to_vec())).collect();
    print_lines(&text_format::align_table_columns(&rows))
}

fn print_lines(lines: &[String]) -> io::Result<()> {
    lines.iter().try_for_each(|line| output_streams::write_stdout_line(line))
}
