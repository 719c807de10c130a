/// The fingerprint that people compare SSH keys by (`ssh-keygen -lf`, RFC 4255 has the digest).
public enum SSHFingerprint {
    /// `SHA256:` and the digest in base64, without padding.
    ///
    /// - Parameter key: The public key as it goes over the wire (RFC 4253 §6.6).
    public static func sha256(of key: [UInt8]) -> String {
        "SHA256:" + OpenSSLText.base64(OpenSSLText.sha256(key)).prefix { $0 != "=" }
    }
}
