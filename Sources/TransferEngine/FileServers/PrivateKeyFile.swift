import Glibc
import TransferCore

extension FileServerSettings.PrivateKey {
    /// A description of the key with its possible faults, as libssh2 does not report which keys it tried and why they
    /// failed.
    ///
    /// The property blocks for the time of reading a small file.
    var inWords: String {
        guard let text = Self.text(path) else {
            return "the key \(path), which cannot be read (\(String(cString: strerror(errno)).lowercasedFirst))"
        }
        let isEncrypted = Self.isEncrypted(text)
        if !isEncrypted || passphrase != nil, let kind = SSHKeyKind(text).words() {
            return "the key \(path): \(kind)"
        }
        guard isEncrypted else { return "the key \(path)" }
        return passphrase == nil
            ? "the key \(path), which only a passphrase opens (\"keyPassphrase\"\(CommandPhrases.only(", --ssh-key-passphrase")))"
            : "the key \(path), if its passphrase opens it"
    }

    /// Returns whether a private key is encrypted.
    ///
    /// PEM of PKCS #8 and of older kinds says so. In OpenSSH's format (PROTOCOL.key) the name of the cipher follows the
    /// magic text, and is `none`.
    static func isEncrypted(_ text: String) -> Bool {
        if text.contains("BEGIN ENCRYPTED PRIVATE KEY") || text.contains("Proc-Type: 4,ENCRYPTED") { return true }
        guard text.contains("BEGIN OPENSSH PRIVATE KEY") else { return false }
        return !text.contains("b3BlbnNzaC1rZXktdjEAAAAABG5vbmU")
    }

    /// Returns the content of a file.
    ///
    /// - Returns: `nil` where it cannot be read; `errno` then has the reason.
    private static func text(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = read(descriptor, &bytes, bytes.count)
        return count < 0 ? nil : String(decoding: bytes[..<count], as: UTF8.self)
    }
}
