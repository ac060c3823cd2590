//! A certificate of the server's own, and what a client needs to trust it.

use std::{net::IpAddr, sync::Arc};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig, crypto,
        pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
    },
};

/// Names under which in-cluster clients know an API server.
const NAMES: [&str; 5] = [
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
];

/// A server's key and certificate, signed by an authority made for it alone. Both are new in each process.
#[derive(Clone)]
pub struct TlsIdentity {
    acceptor: TlsAcceptor,
    authority_pem: Arc<str>,
}

impl std::fmt::Debug for TlsIdentity {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("TlsIdentity")
    }
}

/// No certificate could be made.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The key or certificate.
    #[error("cannot make a certificate")]
    Certificate(#[from] rcgen::Error),
    /// Its use.
    #[error("cannot use the certificate")]
    Use(#[from] tokio_rustls::rustls::Error),
}

impl TlsIdentity {
    /// Makes an authority, and with it a certificate for loopback, for the names of an API server in a cluster and for
    /// `address`. HTTP/2 is preferred to HTTP/1.1.
    ///
    /// # Errors
    /// [`TlsError`], if the system gives no random bytes.
    pub fn self_signed(address: IpAddr) -> Result<Self, TlsError> {
        let authority_key = KeyPair::generate()?;
        let mut authority = CertificateParams::default();
        authority
            .distinguished_name
            .push(DnType::CommonName, "fake-apiserver-ca");
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.key_usages = vec![
            KeyUsagePurpose::KeyCertSign,
            KeyUsagePurpose::DigitalSignature,
        ];
        let authority_certificate = authority.self_signed(&authority_key)?;

        let server_key = KeyPair::generate()?;
        let mut names: Vec<String> = NAMES.iter().map(|name| (*name).to_owned()).collect();
        names.extend([
            "127.0.0.1".to_owned(),
            "::1".to_owned(),
            address.to_string(),
        ]);
        let mut server = CertificateParams::new(names)?;
        server
            .distinguished_name
            .push(DnType::CommonName, "fake-apiserver");
        server.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let issuer = Issuer::from_params(&authority, &authority_key);
        let certificate = server.signed_by(&server_key, &issuer)?;

        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(server_key.serialize_der()));
        let provider = Arc::new(crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self {
            acceptor: TlsAcceptor::from(Arc::new(config)),
            authority_pem: authority_certificate.pem().into(),
        })
    }

    /// The authority's certificate, which clients must trust.
    pub fn authority_pem(&self) -> &str {
        &self.authority_pem
    }

    pub(crate) fn acceptor(&self) -> &TlsAcceptor {
        &self.acceptor
    }
}

/// A token that nobody can guess: 32 hexadecimal digits.
pub(crate) fn random_token() -> Result<String, TlsError> {
    let mut bytes = [0; 16];
    let provider = crypto::ring::default_provider();
    let filled = provider.secure_random.fill(&mut bytes);
    filled.map_err(|_no_random| tokio_rustls::rustls::Error::FailedToGetRandomBytes)?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}
