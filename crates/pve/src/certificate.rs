//! What a certificate says about itself, for people: whose it is, and until when.

use x509_cert::der::Decode as _;

use crate::fingerprint::Fingerprint;

/// A certificate that a host presented, trusted or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// Its SHA-256.
    pub fingerprint: Fingerprint,
    /// Whose it is, as it claims: `CN=pve1.lab,O=Proxmox Virtual Environment`.
    pub subject: String,
    /// Who vouches for it, as it claims.
    pub issuer: String,
    /// Valid from, in Unix seconds.
    pub not_before: i64,
    /// Valid until, in Unix seconds.
    pub not_after: i64,
}

impl Certificate {
    /// From its DER form. `None`: it is none.
    pub fn of_der(der: &[u8]) -> Option<Self> {
        let parsed = x509_cert::Certificate::from_der(der).ok()?;
        let body = parsed.tbs_certificate;
        let seconds = |time: x509_cert::time::Time| {
            i64::try_from(time.to_unix_duration().as_secs()).unwrap_or(i64::MAX)
        };
        Some(Self {
            fingerprint: Fingerprint::of_der(der),
            subject: body.subject.to_string(),
            issuer: body.issuer.to_string(),
            not_before: seconds(body.validity.not_before),
            not_after: seconds(body.validity.not_after),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_whose_it_is_and_until_when() {
        let mut made = rcgen::CertificateParams::new(vec!["pve1".to_owned()]).unwrap();
        made.distinguished_name = rcgen::DistinguishedName::new();
        let name = rcgen::DnType::CommonName;
        made.distinguished_name.push(name, "pve1.lab");
        made.not_before = rcgen::date_time_ymd(2024, 1, 1);
        made.not_after = rcgen::date_time_ymd(2026, 1, 1);
        let key = rcgen::KeyPair::generate().unwrap();
        let made = made.self_signed(&key).unwrap();
        let read = Certificate::of_der(made.der()).unwrap();
        assert_eq!(read.fingerprint, Fingerprint::of_der(made.der()));
        assert_eq!(
            (read.subject.as_str(), read.issuer.as_str()),
            ("CN=pve1.lab", "CN=pve1.lab")
        );
        assert_eq!(
            (read.not_before, read.not_after),
            (1_704_067_200, 1_767_225_600)
        );
    }

    #[test]
    fn what_is_none_is_none() {
        assert_eq!(Certificate::of_der(b"\x30\x82\xff\xff"), None);
        assert_eq!(Certificate::of_der(b""), None);
    }
}
