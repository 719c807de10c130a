import TransferCore

/// The SSH library of libcurl, and its limits: a missing feature is no fault of the server.
struct SSHLibrary: Sendable, Hashable {
    /// The name with the version: `libssh2 1.10.0`.
    let name: String
    /// Whether the library signs by RSA keys with SHA-1 alone (`ssh-rsa`, RFC 4253 §6.6), and not with SHA-2 (RFC
    /// 8332).
    ///
    /// OpenSSH refuses SHA-1 since its version 8.8.
    let signsBySHA1Alone: Bool

    /// Parses a version.
    ///
    /// - Parameter version: The text of curl_version_info(3).
    init(_ version: String) {
        name = version.split(separator: "/").joined(separator: " ")
        let parts = version.split(separator: "/")
        let numbers = (parts.last ?? "").split(separator: ".").map { Int($0.prefix { $0.isNumber }) ?? 0 }
        // libssh2 has rsa-sha2-256 and -512 since 1.11.
        signsBySHA1Alone = parts.first == "libssh2" && numbers.count >= 2 && (numbers[0], numbers[1]) < (1, 11)
    }

    /// The message about a refused RSA key.
    var rsaWords: String? {
        guard signsBySHA1Alone else { return nil }
        return "\(name) signs by an RSA key with SHA-1 alone, which OpenSSH refuses since version 8.8: "
            + "use an ed25519 key (ssh-keygen -t ed25519), or libssh2 1.11 or newer"
    }

    /// Returns the error where library and server have no kind of key or cipher in common (LIBSSH2_ERROR_KEX_FAILURE).
    ///
    /// Another attempt would not help.
    ///
    /// - Parameters:
    ///   - file: The file of known hosts.
    ///   - words: The library's message.
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

    /// Returns whether libcurl's message means this failure.
    static func isDisagreement(_ words: String) -> Bool { words.contains("ssh session: -5,") }
}
