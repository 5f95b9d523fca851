//! Builds the configuration values of each section of the file.

use std::{fs, ops::RangeInclusive, time::Duration};

use crate::{ApiKey, ApiKeyConfigError, ApiKeyHash, Auth, JwksSource, JwtOptions, Scopes, Secret};
use toml::Spanned;
use trackway_nats::NatsOptions;

use super::{
    A2aSection, CardSigningKey, DefaultsSection, DispatchSection, LocatedName, McpSection, NatsSection,
    PushSection, RetentionSection, ServerSection, WorkflowsSection, WorkspaceConfig, artifacts_section,
    config_reader::ConfigReader, mesh_sections, model_sections, outgoing_section, raw_config,
};
use crate::workspace::duration;

/// A smaller bound leaves no room for a request; with a larger one a single request could use all
/// memory.
/// Limit (CLI): range of the bound on request bodies; `[server] body_max_bytes`.
const BODY_MAX_BYTES: RangeInclusive<u64> = 1_024..=1024 * 1024 * 1024;
/// At least one, for health checks. No machine handles more than a million.
const CONNECTIONS: RangeInclusive<u64> = 1..=1_000_000;
/// No client sends a request in less time; after a day nothing more will come.
const TIMEOUT: RangeInclusive<Duration> = Duration::from_millis(10)..=Duration::from_secs(24 * 60 * 60);
/// At least a day, because a session of today is still in use. A hundred years is for ever.
/// Limit (CLI): range of the age of finished sessions; `[retention] days`.
const RETENTION_DAYS: RangeInclusive<u64> = 1..=36_500;
/// Default id of the key that signs cards.
const SIGNING_KEY_ID: &str = "k1";
/// Longest wait for a first answer: no user waits longer for a silent agent.
/// Limit (CLI): longest wait for a first answer that can be set; `[dispatch] first_answer_timeout`.
const FIRST_ANSWER_TIMEOUT_MAX: Duration = Duration::from_secs(60 * 60);

/// The settings that can be read. The others have their defaults, and the reader records the
/// findings.
pub(super) fn build_config(reader: &ConfigReader<'_>, file: raw_config::RawConfig) -> WorkspaceConfig {
    let push = file.push.secret.and_then(|text| reader.read_nonempty_setting("push.secret", &text));
    WorkspaceConfig {
        auth: read_auth_section(reader, &file.auth),
        outgoing: outgoing_section::read_outgoing_section(reader, &file.outgoing),
        push: PushSection { secret: push.map(Secret::new) },
        server: read_server_section(reader, &file.server),
        a2a: read_a2a_section(reader, &file.a2a),
        mcp: McpSection {
            checkpoints: file.mcp.checkpoints,
            session_checkpoints: file.mcp.session_checkpoints,
        },
        nats: read_nats_section(reader, &file.nats),
        workflows: read_workflows_section(reader, &file.workflows),
        retention: read_retention_section(reader, &file.retention),
        defaults: DefaultsSection {
            agent: read_named_setting(reader, "defaults.agent", file.defaults.agent.as_ref()),
            model: read_named_setting(reader, "defaults.model", file.defaults.model.as_ref()),
        },
        models: model_sections::read_model_sections(reader, &file.models),
        dispatch: read_dispatch_section(reader, &file.dispatch),
        mesh: mesh_sections::read_mesh_sections(reader, &file.mesh, &file.peers),
        artifacts: artifacts_section::read_artifacts_section(reader, &file.artifacts),
        raw_settings: Vec::new(),
    }
}

fn read_nats_section(reader: &ConfigReader<'_>, section: &raw_config::RawNatsSection) -> NatsSection {
    const KEY: &str = "nats.url";
    let Some(text) = &section.url else { return NatsSection::default() };
    let url = reader.read_nonempty_setting(KEY, text).and_then(|url| match NatsOptions::check_url(&url) {
        Ok(()) => Some(Secret::new(url)),
        Err(error) => reader.report_finding(text.span(), KEY, error),
    });
    NatsSection { url }
}

fn read_named_setting(
    reader: &ConfigReader<'_>,
    key: &str,
    text: Option<&raw_config::SpannedText>,
) -> Option<LocatedName> {
    let text = text?;
    Some(LocatedName {
        name: reader.read_nonempty_setting(key, text)?,
        line: reader.line_of_offset(text.span().start),
    })
}

fn read_dispatch_section(
    reader: &ConfigReader<'_>,
    section: &raw_config::RawDispatchSection,
) -> DispatchSection {
    let mut dispatch = DispatchSection::default();
    if let Some(timeout) = read_first_answer_timeout(reader, section) {
        dispatch.first_answer_timeout = timeout;
    }
    let limits = &mut dispatch.limits;
    for (key, given, limit) in [
        ("dispatch.depth_max", &section.depth_max, &mut limits.depth_max),
        ("dispatch.runs_max", &section.runs_max, &mut limits.runs_max),
    ] {
        match given {
            None => {}
            Some(given) if *given.get_ref() == 0 => {
                reader.report_finding::<()>(given.span(), key, "it must be a whole number, 1 or more");
            }
            Some(given) => *limit = *given.get_ref(),
        }
    }
    dispatch
}

fn read_first_answer_timeout(
    reader: &ConfigReader<'_>,
    section: &raw_config::RawDispatchSection,
) -> Option<Duration> {
    const KEY: &str = "dispatch.first_answer_timeout";
    let text = section.first_answer_timeout.as_ref()?;
    match duration::parse_duration(&reader.read_nonempty_setting(KEY, text)?) {
        Ok(wait) if wait.is_zero() || wait > FIRST_ANSWER_TIMEOUT_MAX => {
            reader.report_finding(text.span(), KEY, "it must be more than 0 and at most 1h")
        }
        Ok(timeout) => Some(timeout),
        Err(why) => reader.report_finding_with_hint(text.span(), KEY, "it is not a length of time", &why),
    }
}

fn read_retention_section(
    reader: &ConfigReader<'_>,
    section: &raw_config::RawRetentionSection,
) -> RetentionSection {
    let kept = match &section.days {
        None => RetentionSection::default(),
        Some(days) if RETENTION_DAYS.contains(days.get_ref()) => {
            RetentionSection::retention_from_days(*days.get_ref())
        }
        Some(days) => {
            let (least, most) = (RETENTION_DAYS.start(), RETENTION_DAYS.end());
            let why = format!("it must be from {least} to {most}");
            let hint = "enabled = false keeps everything for ever";
            reader.report_finding_with_hint::<()>(days.span(), "retention.days", why, hint);
            RetentionSection::default()
        }
    };
    let is_on = section.enabled.unwrap_or(true);
    if is_on { kept } else { RetentionSection { older_than: None } }
}

fn read_workflows_section(
    reader: &ConfigReader<'_>,
    section: &raw_config::RawWorkflowsSection,
) -> WorkflowsSection {
    let folders = section.folders.as_ref().map(|folders| {
        let key = |index| format!("workflows.folders[{index}]");
        let read = folders.iter().enumerate();
        read.filter_map(|(index, folder)| reader.read_path_setting(&key(index), folder)).collect()
    });
    WorkflowsSection { folders }
}

fn read_auth_section(reader: &ConfigReader<'_>, section: &raw_config::RawAuthSection) -> Auth {
    let mut auth = if section.required { Auth::new().required() } else { Auth::new() };
    for (index, key) in section.keys.iter().enumerate() {
        if let Some(key) = read_api_key(reader, &format!("auth.keys[{index}]"), key) {
            auth = auth.key(key);
        }
    }
    if let Some(jwt) = section.jwt.as_ref().and_then(|section| read_jwt_section(reader, section)) {
        auth = auth.jwt(jwt);
    }
    auth
}

fn read_api_key(
    reader: &ConfigReader<'_>,
    key: &str,
    section: &Spanned<raw_config::RawApiKeySection>,
) -> Option<ApiKey> {
    let raw_config::RawApiKeySection { id, sha256, tenant, user, scopes } = section.get_ref();
    let text = |name: &str, text| reader.read_text_setting(&format!("{key}.{name}"), text);
    let hash = text("sha256", sha256).and_then(|hash| {
        hash.parse::<ApiKeyHash>().map_or_else(
            |why: ApiKeyConfigError| {
                let hint = "printf %s KEY | sha256sum computes it";
                reader.report_finding_with_hint(sha256.span(), &format!("{key}.sha256"), why, hint)
            },
            Some,
        )
    });
    let mut patterns = Vec::with_capacity(scopes.len());
    for (index, scope) in scopes.iter().enumerate() {
        let place = format!("{key}.scopes[{index}]");
        let Some(pattern) = reader.read_text_setting(&place, scope) else { continue };
        if let Err(why) = Scopes::new([&pattern]) {
            reader.report_finding::<()>(scope.span(), &place, why);
            continue;
        }
        patterns.push(pattern);
    }
    let scopes = Scopes::new(patterns);
    let scopes = scopes.map_or_else(|why| reader.report_finding(section.span(), key, why), Some);
    let (id, tenant, user) = (text("id", id), text("tenant", tenant), text("user", user));
    let made = ApiKey::new(&id?, hash?, &tenant?, &user?, scopes?);
    made.map_or_else(|why| reader.report_finding(section.span(), key, why), Some)
}

fn read_jwt_section(
    reader: &ConfigReader<'_>,
    section: &Spanned<raw_config::RawJwtSection>,
) -> Option<JwtOptions> {
    let raw_config::RawJwtSection { jwks_url, jwks_file, issuer, audience, .. } = section.get_ref();
    let keys = match (jwks_url, jwks_file) {
        (Some(url), None) => {
            const KEY: &str = "auth.jwt.jwks_url";
            let source = JwksSource::jwks_url(&reader.read_text_setting(KEY, url)?);
            source.map_or_else(|why| reader.report_finding(url.span(), KEY, why), Some)
        }
        (None, Some(file)) => reader.read_path_setting("auth.jwt.jwks_file", file).map(JwksSource::jwks_file),
        (Some(_), Some(_)) | (None, None) => {
            let why = "it has either jwks_url or jwks_file";
            reader.report_finding(section.span(), "auth.jwt", why)
        }
    };
    let issuer = reader.read_text_setting("auth.jwt.issuer", issuer);
    let audience = reader.read_text_setting("auth.jwt.audience", audience);
    let made = JwtOptions::new(keys?, &issuer?, &audience?);
    let mut jwt = made.map_or_else(|why| reader.report_finding(section.span(), "auth.jwt", why), Some)?;
    let raw_config::RawJwtSection { tenant_claim, user_claim, scope_claim, .. } = section.get_ref();
    if let Some(claim) = tenant_claim {
        jwt = jwt.tenant_claim(&reader.read_nonempty_setting("auth.jwt.tenant_claim", claim)?);
    }
    if let Some(claim) = user_claim {
        jwt = jwt.user_claim(&reader.read_nonempty_setting("auth.jwt.user_claim", claim)?);
    }
    if let Some(claim) = scope_claim {
        jwt = jwt.scope_claim(&reader.read_nonempty_setting("auth.jwt.scope_claim", claim)?);
    }
    Some(jwt)
}

fn read_server_section(reader: &ConfigReader<'_>, section: &raw_config::RawServerSection) -> ServerSection {
    let mut limits = ServerSection {
        public_url: read_public_url(reader, section.public_url.as_ref()),
        ..ServerSection::default()
    };
    let number = |key: &str, number: Option<&Spanned<u64>>, range: RangeInclusive<u64>| {
        let number = number?;
        let fits = range.contains(number.get_ref());
        match usize::try_from(*number.get_ref()).ok().filter(|_| fits) {
            Some(number) => Some(number),
            None => {
                let why = format!("it must be from {} to {}", range.start(), range.end());
                reader.report_finding(number.span(), key, why)
            }
        }
    };
    let span = |key: &str, text: Option<&raw_config::SpannedText>| {
        let text = text?;
        match duration::parse_duration(&reader.read_nonempty_setting(key, text)?) {
            Ok(span) if TIMEOUT.contains(&span) => Some(span),
            Ok(_) => reader.report_finding(text.span(), key, "it must be from 10ms to 1d"),
            Err(why) => reader.report_finding_with_hint(text.span(), key, "it is not a length of time", &why),
        }
    };
    let bytes = number("server.body_max_bytes", section.body_max_bytes.as_ref(), BODY_MAX_BYTES);
    let max = number("server.max_connections", section.max_connections.as_ref(), CONNECTIONS);
    let header = span("server.header_timeout", section.header_timeout.as_ref());
    let body = span("server.body_timeout", section.body_timeout.as_ref());
    let idle = span("server.idle_timeout", section.idle_timeout.as_ref());
    let blocking = span("server.blocking_timeout", section.blocking_timeout.as_ref());
    limits.blocking_timeout = blocking.unwrap_or(limits.blocking_timeout);
    let connections = &mut limits.connections;
    connections.max = max.unwrap_or(connections.max);
    connections.header_timeout = header.unwrap_or(connections.header_timeout);
    connections.body_timeout = body.unwrap_or(connections.body_timeout);
    connections.idle_timeout = idle.unwrap_or(connections.idle_timeout);
    limits.body_max_bytes = bytes.unwrap_or(limits.body_max_bytes);
    limits
}

fn read_public_url(reader: &ConfigReader<'_>, text: Option<&raw_config::SpannedText>) -> Option<String> {
    const KEY: &str = "server.public_url";
    let text = text?;
    match model_sections::parse_base_url(&reader.read_nonempty_setting(KEY, text)?) {
        Ok(url) => Some(url),
        Err(why) => reader.report_finding(text.span(), KEY, why),
    }
}

fn read_a2a_section(reader: &ConfigReader<'_>, section: &raw_config::RawA2aSection) -> A2aSection {
    let raw_config::RawA2aSection {
        default_agent,
        signing_key_file,
        signing_key_id,
        grpc_reflection,
        grpc_in_card,
    } = section;
    let signing = match (signing_key_file, signing_key_id) {
        (Some(file), id) => {
            let key_id = match id {
                Some(id) => reader.read_nonempty_setting("a2a.signing_key_id", id),
                None => Some(SIGNING_KEY_ID.to_owned()),
            };
            let key_pem = read_signing_key_file(reader, file);
            key_pem.zip(key_id).map(|(key_pem, key_id)| CardSigningKey { key_pem, key_id })
        }
        (None, Some(id)) => {
            let why = "it names a key that signing_key_file must hold";
            reader.report_finding(id.span(), "a2a.signing_key_id", why)
        }
        (None, None) => None,
    };
    A2aSection {
        default_agent: read_named_setting(reader, "a2a.default_agent", default_agent.as_ref()),
        signing,
        grpc_reflection: *grpc_reflection,
        grpc_hidden: *grpc_in_card == Some(false),
    }
}

/// The text of a PEM file. Whether the key can sign is checked when it is used.
fn read_signing_key_file(reader: &ConfigReader<'_>, file: &raw_config::SpannedText) -> Option<Secret> {
    const KEY: &str = "a2a.signing_key_file";
    let path = reader.read_path_setting(KEY, file)?;
    let pem = match fs::read_to_string(&path) {
        Ok(pem) => pem,
        Err(error) => {
            return reader.report_finding(file.span(), KEY, format!("{}: {error}", path.display()));
        }
    };
    if !pem.contains("-----BEGIN PRIVATE KEY-----") {
        let why = format!("{}: this is not the PEM of a private key (PKCS#8)", path.display());
        let hint = "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 makes one";
        return reader.report_finding_with_hint(file.span(), KEY, why, hint);
    }
    Some(Secret::new(pem))
}
