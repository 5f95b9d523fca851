//! The query strings and headers of requests about artifacts.

use std::{fmt, str::FromStr};

use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use serde::{Deserialize, Deserializer, de::Error as _};
use trackway_artifacts::ArtifactLookup;
use trackway_domain::{ArtifactFilename, ArtifactScope, ArtifactScopeKind, ErrorCode, RunId, SessionId};
use trackway_http::HttpError;
use trackway_ports::ArtifactCursor;

use super::byte_range::header_values;

/// Types that clients send when they do not know one.
const UNKNOWN_TYPES: [&str; 2] = ["application/octet-stream", "application/x-www-form-urlencoded"];

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// `PUT /api/artifacts/{filename}`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PutParams {
    #[serde(default, deserialize_with = "parse_optional")]
    scope: Option<ArtifactScopeKind>,
    #[serde(default, deserialize_with = "parse_optional")]
    session: Option<SessionId>,
    #[serde(default, deserialize_with = "parse_optional")]
    run: Option<RunId>,
    /// Separated by commas.
    #[serde(default)]
    tags: String,
}

impl PutParams {
    /// Where to store it: for the user, unless the request says more.
    pub(super) fn scope(&self) -> Result<ArtifactScope, HttpError> {
        let kind = self.scope.unwrap_or(ArtifactScopeKind::User);
        scope_from_params(kind, self.run, self.session.as_ref())
    }

    pub(super) fn tags(&self) -> Vec<String> {
        self.tags.split(',').map(str::trim).filter(|tag| !tag.is_empty()).map(str::to_owned).collect()
    }
}

/// A scope, and nothing that belongs to another one.
fn scope_from_params(
    kind: ArtifactScopeKind,
    run: Option<RunId>,
    session: Option<&SessionId>,
) -> Result<ArtifactScope, HttpError> {
    let invalid = |detail: String| HttpError::new(ErrorCode::InvalidRequest, detail);
    let missing = |id: &str| invalid(format!("the scope {kind} needs ?{id}=ID"));
    let scope = match kind {
        ArtifactScopeKind::Run => ArtifactScope::Run(run.ok_or_else(|| missing("run"))?),
        ArtifactScopeKind::Session => {
            ArtifactScope::Session(session.cloned().ok_or_else(|| missing("session"))?)
        }
        ArtifactScopeKind::User => ArtifactScope::User,
        ArtifactScopeKind::Tenant => ArtifactScope::Tenant,
    };
    for (id, is_given, of) in [
        ("run", run.is_some(), ArtifactScopeKind::Run),
        ("session", session.is_some(), ArtifactScopeKind::Session),
    ] {
        if is_given && kind != of {
            let detail = format!("{id} has no meaning in the scope {kind}");
            return Err(invalid(detail).with_hint(&format!("send scope={of}, or leave {id} out")));
        }
    }
    Ok(scope)
}

/// `GET /api/artifacts/{filename}`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LookupParams {
    #[serde(default, deserialize_with = "parse_optional")]
    session: Option<SessionId>,
    #[serde(default, deserialize_with = "parse_optional")]
    run: Option<RunId>,
    #[serde(default, deserialize_with = "parse_optional")]
    scope: Option<ArtifactScopeKind>,
    #[serde(default, deserialize_with = "parse_optional")]
    version: Option<WholeNumber>,
}

impl LookupParams {
    pub(super) fn lookup(self, filename: ArtifactFilename) -> ArtifactLookup {
        let Self { session, run, scope, version } = self;
        ArtifactLookup { filename, run, session, scope, version: version.map(|number| number.0) }
    }
}

/// `GET /api/artifacts/{filename}/versions`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VersionsParams {
    #[serde(default, deserialize_with = "parse_optional")]
    session: Option<SessionId>,
    #[serde(default, deserialize_with = "parse_optional")]
    run: Option<RunId>,
    #[serde(default, deserialize_with = "parse_optional")]
    scope: Option<ArtifactScopeKind>,
    #[serde(default, deserialize_with = "parse_optional")]
    pub(super) limit: Option<usize>,
    #[serde(default, deserialize_with = "parse_cursor")]
    pub(super) cursor: Option<ArtifactCursor>,
}

impl VersionsParams {
    pub(super) fn into_lookup(self, filename: ArtifactFilename) -> ArtifactLookup {
        let Self { session, run, scope, .. } = self;
        ArtifactLookup { filename, run, session, scope, version: None }
    }
}

/// `DELETE /api/artifacts/{filename}`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DeleteParams {
    #[serde(default, deserialize_with = "parse_optional")]
    scope: Option<ArtifactScopeKind>,
    #[serde(default, deserialize_with = "parse_optional")]
    session: Option<SessionId>,
    #[serde(default, deserialize_with = "parse_optional")]
    run: Option<RunId>,
    #[serde(default, deserialize_with = "parse_optional")]
    version: Option<WholeNumber>,
}

impl DeleteParams {
    /// Exactly one scope: a repeated request must not remove an artifact of the same name in a wider one.
    pub(super) fn into_lookup(self, filename: ArtifactFilename) -> Result<ArtifactLookup, HttpError> {
        let Self { scope, session, run, version } = self;
        let kind = match (scope, run, &session) {
            (Some(scope), ..) => scope,
            (None, Some(_), _) => ArtifactScopeKind::Run,
            (None, None, Some(_)) => ArtifactScopeKind::Session,
            (None, None, None) => ArtifactScopeKind::User,
        };
        scope_from_params(kind, run, session.as_ref())?;
        let version = version.map(|number| number.0);
        Ok(ArtifactLookup { filename, run, session, scope: Some(kind), version })
    }
}

/// `GET /api/artifacts`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListParams {
    #[serde(default, deserialize_with = "parse_optional")]
    pub(super) scope: Option<ArtifactScopeKind>,
    #[serde(default, deserialize_with = "parse_optional")]
    pub(super) session: Option<SessionId>,
    #[serde(default, deserialize_with = "parse_optional")]
    pub(super) prefix: Option<String>,
    #[serde(default, deserialize_with = "parse_optional")]
    pub(super) tag: Option<String>,
    #[serde(default, deserialize_with = "parse_optional")]
    pub(super) limit: Option<usize>,
    #[serde(default, deserialize_with = "parse_cursor")]
    pub(super) cursor: Option<ArtifactCursor>,
}

/// A parameter that is given and not empty.
fn parse_optional<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: fmt::Display>,
{
    let text = Option::<String>::deserialize(deserializer)?.filter(|text| !text.is_empty());
    text.map(|text| text.parse().map_err(|error: T::Err| D::Error::custom(format!("{text:?}: {error}"))))
        .transpose()
}

/// The `next` of an earlier page.
fn parse_cursor<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ArtifactCursor>, D::Error> {
    Ok(parse_optional::<D, u64>(deserializer)?.map(ArtifactCursor))
}

/// A version. Other languages write 2 as 2.0.
#[derive(Debug, Clone, Copy)]
struct WholeNumber(u32);

impl FromStr for WholeNumber {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.strip_suffix(".0").unwrap_or(text);
        let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit());
        let number = digits.parse().ok().filter(|_| is_plain);
        number.map(Self).ok_or("a version is a number: 0, 1, 2, …")
    }
}

/// The headers of an upload that mean something here.
#[derive(Debug)]
pub(super) struct UploadHeaders {
    pub(super) media_type: Option<String>,
    pub(super) request_id: Option<String>,
    pub(super) only_if_absent: bool,
}

impl UploadHeaders {
    /// A header that asks for something else than is done is refused.
    pub(super) fn read_headers(headers: &HeaderMap) -> Result<Self, HttpError> {
        refuse_header(headers, &header::IF_MATCH)?;
        refuse_header(headers, &header::CONTENT_RANGE)?;
        if header_values(headers, header::CONTENT_ENCODING).any(|it| !it.eq_ignore_ascii_case("identity")) {
            return Err(HttpError::new(ErrorCode::InvalidRequest, "the body must not be compressed")
                .with_status(StatusCode::UNSUPPORTED_MEDIA_TYPE));
        }
        let conditions: Vec<&str> = header_values(headers, header::IF_NONE_MATCH).map(str::trim).collect();
        let only_if_absent = match conditions[..] {
            [] => false,
            ["*"] => true,
            _ => {
                let detail = "only `If-None-Match: *` is understood: store it if there is none of this name";
                return Err(HttpError::new(ErrorCode::InvalidRequest, detail));
            }
        };
        let request_id = match headers.get(IDEMPOTENCY_KEY).map(|key| key.to_str()) {
            None => None,
            Some(Ok(key)) if !key.trim().is_empty() => Some(key.trim().to_owned()),
            Some(_) => {
                let detail = "the header Idempotency-Key is empty or not plain text";
                return Err(HttpError::new(ErrorCode::InvalidRequest, detail));
            }
        };
        let media_type = header_values(headers, header::CONTENT_TYPE).next().map(str::trim);
        let is_known = |media_type: &&str| {
            let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
            !essence.is_empty() && !UNKNOWN_TYPES.contains(&&*essence)
        };
        let media_type = media_type.filter(is_known).map(str::to_owned);
        Ok(Self { media_type, request_id, only_if_absent })
    }
}

/// A condition or range that is not understood must not be ignored.
pub(super) fn refuse_header(headers: &HeaderMap, name: &HeaderName) -> Result<(), HttpError> {
    if !headers.contains_key(name) {
        return Ok(());
    }
    Err(HttpError::new(ErrorCode::InvalidRequest, format!("the header {name} is not understood here")))
}
