/// The fingerprint by which people compare SSH keys (`ssh-keygen -lf`; RFC 4255 defines the digest).
public enum SSHFingerprint {
    /// Returns `SHA256:` and the digest in base64, without padding.
    ///
    /// - Parameter key: The public key in its network form (RFC 4253 §6.6).
    public static func sha256(of key: [UInt8]) -> String {
        "SHA256:" + OpenSSLText.base64(OpenSSLText.sha256(key)).prefix { $0 != "=" }
    }
}
