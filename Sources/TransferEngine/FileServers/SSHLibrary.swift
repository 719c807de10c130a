import TransferCore

/// The SSH library that libcurl was built with, and its limits: what it can't do is no fault of the server's.
struct SSHLibrary: Sendable, Hashable {
    /// `libssh2 1.10.0`.
    let name: String
    /// Whether it signs by RSA keys with SHA-1 alone (`ssh-rsa`, RFC 4253 §6.6), and not with SHA-2 (RFC 8332). OpenSSH
    /// refuses that since its version 8.8.
    let signsBySHA1Alone: Bool

    /// - Parameter version: As curl_version_info(3) gives it.
    init(_ version: String) {
        name = version.split(separator: "/").joined(separator: " ")
        let parts = version.split(separator: "/")
        let numbers = (parts.last ?? "").split(separator: ".").map { Int($0.prefix { $0.isNumber }) ?? 0 }
        // rsa-sha2-256 and -512 came with libssh2 1.11.
        signsBySHA1Alone = parts.first == "libssh2" && numbers.count >= 2 && (numbers[0], numbers[1]) < (1, 11)
    }

    /// Words on an RSA key that was refused.
    var rsaWords: String? {
        guard signsBySHA1Alone else { return nil }
        return "\(name) signs by an RSA key with SHA-1 alone, which OpenSSH refuses since version 8.8: "
            + "use an ed25519 key (ssh-keygen -t ed25519), or libssh2 1.11 or newer"
    }

    /// The error where library and server agreed on no kind of key and no cipher (LIBSSH2_ERROR_KEX_FAILURE): they won't later.
    ///
    /// - Parameters:
    ///   - file: Of the known hosts.
    ///   - words: The library's.
    func disagreement(_ origin: Origin, file: String?, _ words: String) -> TransferError {
        let scan = SSHHostKey.scan(origin, type: "ed25519")
        let hint =
            signsBySHA1Alone && file != nil
            ? "; of a server whose RSA key alone is known it asks a signature with SHA-1, which OpenSSH refuses since version "
                + "8.8: add the server's ed25519 key (\(scan) >> \(ShellWord.quoted(file ?? "known_hosts")))"
            : ""
        return TransferError(
            .secureConnectionFailed,
            "no SSH connection with \(origin.hostAndPort): \(name) and the server have no kind of host key, of key exchange "
                + "or of cipher in common (\(words))\(hint)")
    }

    /// Whether libcurl's words tell of that.
    static func isDisagreement(_ words: String) -> Bool { words.contains("ssh session: -5,") }
}
