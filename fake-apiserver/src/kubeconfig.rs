//! A kubeconfig that leads to this server.

use std::{
    fmt::Write as _,
    io::{self, Write as _},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::Path,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};

/// Name of cluster, user and context.
const NAME: &str = "fake-apiserver";

/// Stands where a token would, if none is asked for.
const UNUSED_TOKEN: &str = "unused";

/// What a client must know.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Access<'a> {
    /// Where the server listens; an unspecified address becomes loopback.
    pub(crate) address: SocketAddr,
    /// Certificate to trust, PEM; plain HTTP without one.
    pub(crate) authority_pem: Option<&'a str>,
    /// Bearer token, if one is asked for.
    pub(crate) token: Option<&'a str>,
}

impl Access<'_> {
    /// `https://127.0.0.1:6443`.
    pub(crate) fn url(&self) -> String {
        let scheme = match self.authority_pem {
            Some(_) => "https",
            None => "http",
        };
        let ip = match self.address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
            ip => ip,
        };
        format!("{scheme}://{}", SocketAddr::new(ip, self.address.port()))
    }

    /// The file's text: YAML.
    pub(crate) fn kubeconfig(&self) -> String {
        let mut text = format!(
            "apiVersion: v1\nkind: Config\nclusters:\n- name: {NAME}\n  cluster:\n    server: {}\n",
            self.url()
        );
        let written = "writing to a String cannot fail";
        if let Some(pem) = self.authority_pem {
            let data = STANDARD.encode(pem);
            writeln!(text, "    certificate-authority-data: {data}").expect(written);
        }
        writeln!(
            text,
            "contexts:\n- name: {NAME}\n  context:\n    cluster: {NAME}\n    user: {NAME}\ncurrent-context: {NAME}"
        )
        .expect(written);
        // Over TLS, kubectl asks a person for a name and a password if there is nothing at all; the server ignores this one.
        let unasked_for = self.authority_pem.map(|_| UNUSED_TOKEN);
        match self.token.or(unasked_for) {
            // A JSON string is a YAML string.
            Some(token) => {
                let token = serde_json::Value::from(token);
                write!(
                    text,
                    "users:\n- name: {NAME}\n  user:\n    token: {token}\n"
                )
            }
            None => write!(text, "users:\n- name: {NAME}\n  user: {{}}\n"),
        }
        .expect(written);
        text
    }
}

/// Writes a file that only its owner may read, in place of what may be there, at once or not at all.
///
/// # Errors
/// If the folder cannot be written to.
pub(crate) fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // Temporary files are made with mode 0600.
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kubeconfig_names_a_url_that_can_be_dialled_and_only_what_is_needed() {
        let plain = Access {
            address: "0.0.0.0:6443".parse().unwrap(),
            authority_pem: None,
            token: None,
        };
        assert_eq!(
            plain.kubeconfig(),
            "apiVersion: v1\nkind: Config\nclusters:\n- name: fake-apiserver\n  cluster:\n    server: http://127.0.0.1:6443\ncontexts:\n- name: fake-apiserver\n  context:\n    cluster: fake-apiserver\n    user: fake-apiserver\ncurrent-context: fake-apiserver\nusers:\n- name: fake-apiserver\n  user: {}\n"
        );
        let secured = Access {
            address: "[::]:6443".parse().unwrap(),
            authority_pem: Some("PEM"),
            token: Some("a\"b"),
        };
        let text = secured.kubeconfig();
        assert!(
            text.contains("    server: https://[::1]:6443\n    certificate-authority-data: UEVN\n"),
            "{text}"
        );
        assert!(text.ends_with("    token: \"a\\\"b\"\n"), "{text}");
        let open = Access {
            token: None,
            ..secured
        };
        let text = open.kubeconfig();
        assert!(text.ends_with("    token: \"unused\"\n"), "{text}");
    }
}
