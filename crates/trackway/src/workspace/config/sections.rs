//! Builds the configuration values of each section of the file.

use std::{fs, ops::RangeInclusive, time::Duration};

use crate::{ApiKey, Auth, BadKey, JwksSource, Jwt, KeyHash, Scopes, Secret};
use toml::Spanned;

use super::{
    A2a, Config, Defaults, Dispatch, Limits, Mcp, Named, Outgoing, Push, Retention, Signing,
    Workflows, file, models, reader::Reader,
};
use crate::workspace::span;

/// A smaller bound leaves no room for a request; with a larger one a single request could use all
/// memory.
/// Limit (CLI): range of the bound on request bodies; `[server] body_max_bytes`.
const BODY_MAX_BYTES: RangeInclusive<u64> = 1_024..=1024 * 1024 * 1024;
/// At least one, for health checks. No machine handles more than a million.
const CONNECTIONS: RangeInclusive<u64> = 1..=1_000_000;
/// No client sends a request in less time; after a day nothing more will come.
const TIMEOUT: RangeInclusive<Duration> =
    Duration::from_millis(10)..=Duration::from_secs(24 * 60 * 60);
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
pub(super) fn config(reader: &Reader<'_>, file: file::File) -> Config {
    let push = file.push.secret.and_then(|text| reader.some("push.secret", &text));
    Config {
        auth: auth(reader, &file.auth),
        outgoing: Outgoing { allow_loopback: file.outgoing.allow_loopback },
        push: Push { secret: push.map(Secret::new) },
        server: limits(reader, &file.server),
        a2a: a2a(reader, &file.a2a),
        mcp: Mcp {
            checkpoints: file.mcp.checkpoints,
            session_checkpoints: file.mcp.session_checkpoints,
        },
        workflows: workflows(reader, &file.workflows),
        retention: retention(reader, &file.retention),
        defaults: Defaults {
            agent: named(reader, "defaults.agent", file.defaults.agent.as_ref()),
            model: named(reader, "defaults.model", file.defaults.model.as_ref()),
        },
        models: models::models(reader, &file.models),
        dispatch: dispatch(reader, &file.dispatch),
        written: Vec::new(),
    }
}

fn named(reader: &Reader<'_>, key: &str, text: Option<&file::Text>) -> Option<Named> {
    let text = text?;
    Some(Named { name: reader.some(key, text)?, line: reader.line(text.span().start) })
}

fn dispatch(reader: &Reader<'_>, section: &file::Dispatch) -> Dispatch {
    let mut dispatch = Dispatch::default();
    if let Some(timeout) = first_answer_timeout(reader, section) {
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
                reader.wrong::<()>(given.span(), key, "it must be a whole number, 1 or more");
            }
            Some(given) => *limit = *given.get_ref(),
        }
    }
    dispatch
}

fn first_answer_timeout(reader: &Reader<'_>, section: &file::Dispatch) -> Option<Duration> {
    const KEY: &str = "dispatch.first_answer_timeout";
    let text = section.first_answer_timeout.as_ref()?;
    match span::parse(&reader.some(KEY, text)?) {
        Ok(wait) if wait.is_zero() || wait > FIRST_ANSWER_TIMEOUT_MAX => {
            reader.wrong(text.span(), KEY, "it must be more than 0 and at most 1h")
        }
        Ok(timeout) => Some(timeout),
        Err(why) => reader.wrong_so(text.span(), KEY, "it is not a length of time", &why),
    }
}

fn retention(reader: &Reader<'_>, section: &file::Retention) -> Retention {
    let kept = match &section.days {
        None => Retention::default(),
        Some(days) if RETENTION_DAYS.contains(days.get_ref()) => Retention::days(*days.get_ref()),
        Some(days) => {
            let (least, most) = (RETENTION_DAYS.start(), RETENTION_DAYS.end());
            let why = format!("it must be from {least} to {most}");
            let hint = "enabled = false keeps everything for ever";
            reader.wrong_so::<()>(days.span(), "retention.days", why, hint);
            Retention::default()
        }
    };
    let is_on = section.enabled.unwrap_or(true);
    if is_on { kept } else { Retention { older_than: None } }
}

fn workflows(reader: &Reader<'_>, section: &file::Workflows) -> Workflows {
    let folders = section.folders.as_ref().map(|folders| {
        let key = |index| format!("workflows.folders[{index}]");
        let read = folders.iter().enumerate();
        read.filter_map(|(index, folder)| reader.file(&key(index), folder)).collect()
    });
    Workflows { folders }
}

fn auth(reader: &Reader<'_>, section: &file::Auth) -> Auth {
    let mut auth = if section.required { Auth::new().required() } else { Auth::new() };
    for (index, key) in section.keys.iter().enumerate() {
        if let Some(key) = api_key(reader, &format!("auth.keys[{index}]"), key) {
            auth = auth.key(key);
        }
    }
    if let Some(jwt) = section.jwt.as_ref().and_then(|section| jwt(reader, section)) {
        auth = auth.jwt(jwt);
    }
    auth
}

fn api_key(reader: &Reader<'_>, key: &str, section: &Spanned<file::Key>) -> Option<ApiKey> {
    let file::Key { id, sha256, tenant, user, scopes } = section.get_ref();
    let text = |name: &str, text| reader.text(&format!("{key}.{name}"), text);
    let hash = text("sha256", sha256).and_then(|hash| {
        hash.parse::<KeyHash>().map_or_else(
            |why: BadKey| {
                let hint = "printf %s KEY | sha256sum computes it";
                reader.wrong_so(sha256.span(), &format!("{key}.sha256"), why, hint)
            },
            Some,
        )
    });
    let mut patterns = Vec::with_capacity(scopes.len());
    for (index, scope) in scopes.iter().enumerate() {
        let place = format!("{key}.scopes[{index}]");
        let Some(pattern) = reader.text(&place, scope) else { continue };
        if let Err(why) = Scopes::new([&pattern]) {
            reader.wrong::<()>(scope.span(), &place, why);
            continue;
        }
        patterns.push(pattern);
    }
    let scopes = Scopes::new(patterns);
    let scopes = scopes.map_or_else(|why| reader.wrong(section.span(), key, why), Some);
    let (id, tenant, user) = (text("id", id), text("tenant", tenant), text("user", user));
    let made = ApiKey::new(&id?, hash?, &tenant?, &user?, scopes?);
    made.map_or_else(|why| reader.wrong(section.span(), key, why), Some)
}

fn jwt(reader: &Reader<'_>, section: &Spanned<file::Jwt>) -> Option<Jwt> {
    let file::Jwt { jwks_url, jwks_file, issuer, audience, .. } = section.get_ref();
    let keys = match (jwks_url, jwks_file) {
        (Some(url), None) => {
            const KEY: &str = "auth.jwt.jwks_url";
            let source = JwksSource::url(&reader.text(KEY, url)?);
            source.map_or_else(|why| reader.wrong(url.span(), KEY, why), Some)
        }
        (None, Some(file)) => reader.file("auth.jwt.jwks_file", file).map(JwksSource::file),
        (Some(_), Some(_)) | (None, None) => {
            let why = "it has either jwks_url or jwks_file";
            reader.wrong(section.span(), "auth.jwt", why)
        }
    };
    let issuer = reader.text("auth.jwt.issuer", issuer);
    let audience = reader.text("auth.jwt.audience", audience);
    let made = Jwt::new(keys?, &issuer?, &audience?);
    let mut jwt = made.map_or_else(|why| reader.wrong(section.span(), "auth.jwt", why), Some)?;
    let file::Jwt { tenant_claim, user_claim, scope_claim, .. } = section.get_ref();
    if let Some(claim) = tenant_claim {
        jwt = jwt.tenant_claim(&reader.some("auth.jwt.tenant_claim", claim)?);
    }
    if let Some(claim) = user_claim {
        jwt = jwt.user_claim(&reader.some("auth.jwt.user_claim", claim)?);
    }
    if let Some(claim) = scope_claim {
        jwt = jwt.scope_claim(&reader.some("auth.jwt.scope_claim", claim)?);
    }
    Some(jwt)
}

fn limits(reader: &Reader<'_>, section: &file::Server) -> Limits {
    let mut limits =
        Limits { public_url: public_url(reader, section.public_url.as_ref()), ..Limits::default() };
    let number = |key: &str, number: Option<&Spanned<u64>>, range: RangeInclusive<u64>| {
        let number = number?;
        let fits = range.contains(number.get_ref());
        match usize::try_from(*number.get_ref()).ok().filter(|_| fits) {
            Some(number) => Some(number),
            None => {
                let why = format!("it must be from {} to {}", range.start(), range.end());
                reader.wrong(number.span(), key, why)
            }
        }
    };
    let span = |key: &str, text: Option<&file::Text>| {
        let text = text?;
        match span::parse(&reader.some(key, text)?) {
            Ok(span) if TIMEOUT.contains(&span) => Some(span),
            Ok(_) => reader.wrong(text.span(), key, "it must be from 10ms to 1d"),
            Err(why) => reader.wrong_so(text.span(), key, "it is not a length of time", &why),
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

fn public_url(reader: &Reader<'_>, text: Option<&file::Text>) -> Option<String> {
    const KEY: &str = "server.public_url";
    let text = text?;
    match models::checked_url(&reader.some(KEY, text)?) {
        Ok(url) => Some(url),
        Err(why) => reader.wrong(text.span(), KEY, why),
    }
}

fn a2a(reader: &Reader<'_>, section: &file::A2a) -> A2a {
    let file::A2a {
        default_agent,
        signing_key_file,
        signing_key_id,
        grpc_reflection,
        grpc_in_card,
    } = section;
    let signing = match (signing_key_file, signing_key_id) {
        (Some(file), id) => {
            let key_id = match id {
                Some(id) => reader.some("a2a.signing_key_id", id),
                None => Some(SIGNING_KEY_ID.to_owned()),
            };
            let key_pem = private_key(reader, file);
            key_pem.zip(key_id).map(|(key_pem, key_id)| Signing { key_pem, key_id })
        }
        (None, Some(id)) => {
            let why = "it names a key that signing_key_file must hold";
            reader.wrong(id.span(), "a2a.signing_key_id", why)
        }
        (None, None) => None,
    };
    A2a {
        default_agent: named(reader, "a2a.default_agent", default_agent.as_ref()),
        signing,
        grpc_reflection: *grpc_reflection,
        grpc_hidden: *grpc_in_card == Some(false),
    }
}

/// The text of a PEM file. Whether the key can sign is checked when it is used.
fn private_key(reader: &Reader<'_>, file: &file::Text) -> Option<Secret> {
    const KEY: &str = "a2a.signing_key_file";
    let path = reader.file(KEY, file)?;
    let pem = match fs::read_to_string(&path) {
        Ok(pem) => pem,
        Err(error) => {
            return reader.wrong(file.span(), KEY, format!("{}: {error}", path.display()));
        }
    };
    if !pem.contains("-----BEGIN PRIVATE KEY-----") {
        let why = format!("{}: this is not the PEM of a private key (PKCS#8)", path.display());
        let hint = "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 makes one";
        return reader.wrong_so(file.span(), KEY, why, hint);
    }
    Some(Secret::new(pem))
}
