//! The headers that every answer about resources has.

use std::sync::atomic::{AtomicU64, Ordering};

use axum::response::Response;
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::object_name;

const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");

/// The flow schema and the priority level of priority and fairness: there is one of each here.
const FLOW: [(HeaderName, HeaderValue); 2] = [
    (
        HeaderName::from_static("x-kubernetes-pf-flowschema-uid"),
        HeaderValue::from_static("6a1e0f52-0b0e-4b77-9c36-5f4a4d3a2c01"),
    ),
    (
        HeaderName::from_static("x-kubernetes-pf-prioritylevel-uid"),
        HeaderValue::from_static("6a1e0f52-0b0e-4b77-9c36-5f4a4d3a2c02"),
    ),
];

/// Adds them: the audit id is that of the request, if it has one.
pub(crate) fn add(response: &mut Response, request: &HeaderMap) {
    let audit_id = request.get(AUDIT_ID).cloned();
    let headers = response.headers_mut();
    headers.insert(AUDIT_ID, audit_id.unwrap_or_else(fresh_audit_id));
    for (name, value) in FLOW {
        headers.insert(name, value);
    }
}

/// Another one for each answer. Not from the seed, which would make the seed's other choices depend on requests.
fn fresh_audit_id() -> HeaderValue {
    static ANSWERS: AtomicU64 = AtomicU64::new(1);
    // An odd factor spreads consecutive numbers over all bits, and never maps two to one.
    const SPREAD: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
    let number = ANSWERS.fetch_add(1, Ordering::Relaxed);
    let id = object_name::uid(u128::from(number).wrapping_mul(SPREAD));
    HeaderValue::try_from(id).expect("ids are hexadecimal digits and dashes")
}
