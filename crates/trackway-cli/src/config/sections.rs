//! Each section of the file as the values that it stands for.

use std::{fs, ops::RangeInclusive};

use toml::Spanned;
use trackway::{ApiKey, Auth, BadKey, JwksSource, Jwt, Scopes, Secret};

use super::{
    A2a, Config, Limits, Mcp, Outgoing, Push, Retention, Signing, Workflows, file, reader::Reader,
};
use crate::failure::Failure;

/// Below this nothing could be said; above it one request could take all the memory.
const BODY_MAX_BYTES: RangeInclusive<u64> = 1_024..=1024 * 1024 * 1024;
/// A day at least: a session of today is still being looked at. A hundred years is for ever.
const RETENTION_DAYS: RangeInclusive<u64> = 1..=36_500;
/// The name of the key that signs cards, unless given.
const SIGNING_KEY_ID: &str = "k1";

pub(super) fn config(reader: &Reader<'_>, file: file::File) -> Result<Config, Failure> {
    let file::File { auth, outgoing, push, server, a2a, mcp, workflows, retention } = file;
    let secret = push.secret.map(|text| reader.some("secret", &text)).transpose()?;
    Ok(Config {
        auth: self::auth(reader, &auth)?,
        outgoing: Outgoing { allow_loopback: outgoing.allow_loopback },
        push: Push { secret: secret.map(Secret::new) },
        server: limits(reader, &server)?,
        a2a: self::a2a(reader, a2a)?,
        mcp: Mcp { checkpoints: mcp.checkpoints, session_checkpoints: mcp.session_checkpoints },
        workflows: self::workflows(reader, &workflows)?,
        retention: self::retention(reader, &retention)?,
    })
}

fn retention(reader: &Reader<'_>, section: &file::Retention) -> Result<Retention, Failure> {
    let kept = match &section.days {
        None => Retention::default(),
        Some(days) if RETENTION_DAYS.contains(days.get_ref()) => Retention::days(*days.get_ref()),
        Some(days) => {
            let (least, most) = (RETENTION_DAYS.start(), RETENTION_DAYS.end());
            return Err(reader
                .wrong(days.span(), format!("days is from {least} to {most}"))
                .hint("enabled = false keeps everything for ever"));
        }
    };
    let is_on = section.enabled.unwrap_or(true);
    Ok(if is_on { kept } else { Retention { older_than: None } })
}

fn workflows(reader: &Reader<'_>, section: &file::Workflows) -> Result<Workflows, Failure> {
    let folders = section.folders.as_ref().map(|folders| {
        folders.iter().map(|folder| reader.file("folders", folder)).collect::<Result<_, _>>()
    });
    Ok(Workflows { folders: folders.transpose()? })
}

fn auth(reader: &Reader<'_>, section: &file::Auth) -> Result<Auth, Failure> {
    let mut auth = if section.required { Auth::new().required() } else { Auth::new() };
    for key in &section.keys {
        auth = auth.key(api_key(reader, key)?);
    }
    if let Some(section) = &section.jwt {
        auth = auth.jwt(jwt(reader, section)?);
    }
    Ok(auth)
}

fn api_key(reader: &Reader<'_>, section: &Spanned<file::Key>) -> Result<ApiKey, Failure> {
    let file::Key { id, sha256, tenant, user, scopes } = section.get_ref();
    let hash = reader.text(sha256)?.parse().map_err(|why: BadKey| {
        reader.wrong(sha256.span(), why).hint("printf %s KEY | sha256sum computes it")
    })?;
    let mut patterns = Vec::with_capacity(scopes.len());
    for scope in scopes {
        let text = reader.text(scope)?;
        Scopes::new([&text]).map_err(|why| reader.wrong(scope.span(), why))?;
        patterns.push(text);
    }
    let scopes = Scopes::new(patterns).map_err(|why| reader.wrong(section.span(), why))?;
    let (id, tenant, user) = (reader.text(id)?, reader.text(tenant)?, reader.text(user)?);
    ApiKey::new(&id, hash, &tenant, &user, scopes).map_err(|why| reader.wrong(section.span(), why))
}

fn jwt(reader: &Reader<'_>, section: &Spanned<file::Jwt>) -> Result<Jwt, Failure> {
    let file::Jwt { jwks_url, jwks_file, issuer, audience, .. } = section.get_ref();
    let keys = match (jwks_url, jwks_file) {
        (Some(url), None) => {
            JwksSource::url(&reader.text(url)?).map_err(|why| reader.wrong(url.span(), why))?
        }
        (None, Some(file)) => JwksSource::file(reader.file("jwks_file", file)?),
        (Some(_), Some(_)) | (None, None) => {
            let why = "[auth.jwt] has either jwks_url or jwks_file";
            return Err(reader.wrong(section.span(), why));
        }
    };
    let (issuer, audience) = (reader.text(issuer)?, reader.text(audience)?);
    let mut jwt =
        Jwt::new(keys, &issuer, &audience).map_err(|why| reader.wrong(section.span(), why))?;
    let file::Jwt { tenant_claim, user_claim, scope_claim, .. } = section.get_ref();
    if let Some(claim) = tenant_claim {
        jwt = jwt.tenant_claim(&reader.some("tenant_claim", claim)?);
    }
    if let Some(claim) = user_claim {
        jwt = jwt.user_claim(&reader.some("user_claim", claim)?);
    }
    if let Some(claim) = scope_claim {
        jwt = jwt.scope_claim(&reader.some("scope_claim", claim)?);
    }
    Ok(jwt)
}

fn limits(reader: &Reader<'_>, section: &file::Server) -> Result<Limits, Failure> {
    let Some(bytes) = &section.body_max_bytes else { return Ok(Limits::default()) };
    let body_max_bytes = usize::try_from(*bytes.get_ref())
        .ok()
        .filter(|_| BODY_MAX_BYTES.contains(bytes.get_ref()))
        .ok_or_else(|| {
            let (least, most) = (BODY_MAX_BYTES.start(), BODY_MAX_BYTES.end());
            reader.wrong(bytes.span(), format!("body_max_bytes is from {least} to {most}"))
        })?;
    Ok(Limits { body_max_bytes })
}

fn a2a(reader: &Reader<'_>, section: file::A2a) -> Result<A2a, Failure> {
    let file::A2a { default_agent, signing_key_file, signing_key_id, grpc_reflection } = section;
    let default_agent =
        default_agent.map(|name| reader.some("default_agent", &name)).transpose()?;
    let signing = match (signing_key_file, signing_key_id) {
        (Some(file), id) => {
            let key_id = match id {
                Some(id) => reader.some("signing_key_id", &id)?,
                None => SIGNING_KEY_ID.to_owned(),
            };
            Some(Signing { key_pem: private_key(reader, &file)?, key_id })
        }
        (None, Some(id)) => {
            let why = "signing_key_id names a key that signing_key_file must hold";
            return Err(reader.wrong(id.span(), why));
        }
        (None, None) => None,
    };
    Ok(A2a { default_agent, signing, grpc_reflection })
}

/// The text of a PEM file. Whether the key in it can sign shows when it is used.
fn private_key(reader: &Reader<'_>, file: &file::Text) -> Result<Secret, Failure> {
    let path = reader.file("signing_key_file", file)?;
    let wrong = |why: String| reader.wrong(file.span(), format!("{}: {why}", path.display()));
    let pem = fs::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
    if !pem.contains("-----BEGIN PRIVATE KEY-----") {
        return Err(wrong("this is not the PEM of a private key (PKCS#8)".to_owned())
            .hint("openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 makes one"));
    }
    Ok(Secret::new(pem))
}
