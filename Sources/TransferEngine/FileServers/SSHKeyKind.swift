import TransferCore

/// The kind of a user's SSH key, to the extent that its file shows it without a passphrase.
enum SSHKeyKind: Sendable, Hashable {
    case rsa
    /// A key in a security device (PROTOCOL.u2f of OpenSSH).
    case device
    /// A key in PuTTY's own format.
    case putty
    /// A file with the public half.
    case publicHalf
    case other

    /// Recognises the kind of a key.
    ///
    /// - Parameter text: The content of the file.
    init(_ text: String) {
        if text.hasPrefix("PuTTY-User-Key-File") {
            self = .putty
        } else if ["ssh-", "ecdsa-sha2-", "sk-"].contains(where: text.hasPrefix) {
            self = .publicHalf
        } else if text.contains("BEGIN RSA PRIVATE KEY") {
            self = .rsa
        } else {
            self = Self.inside(text)
        }
    }

    /// Returns a message about a limit of the key; `nil` where none is known.
    func words(_ library: SSHLibrary = .current) -> String? {
        switch self {
        case .rsa: library.rsaWords
        case .device: "it is kept in a security device, which \(library.name) cannot ask: use a key in a file"
        case .putty: "it has PuTTY's format: puttygen KEY -O private-openssh -o NEW makes one that can be read"
        case .publicHalf: "it is the public half: name the file without .pub"
        case .other: nil
        }
    }

    /// Recognises an encoded key.
    ///
    /// OpenSSH's format has the public key before the encrypted part (PROTOCOL.key). PKCS #8 has an identifier of the
    /// algorithm (RFC 5208 §5, RFC 8017 §A.1).
    private static func inside(_ text: String) -> SSHKeyKind {
        let lines = text.split { $0.isNewline }.filter { !$0.hasPrefix("-") && !$0.contains(":") }
        guard let bytes = Base64.decode(lines.joined()) else { return .other }
        func has(_ pattern: some Collection<UInt8>) -> Bool { bytes.prefix(512).firstRange(of: Array(pattern)) != nil }
        if has("sk-ssh-ed25519@".utf8) || has("sk-ecdsa-sha2-".utf8) { return .device }
        let isRSA = has("ssh-rsa".utf8) || has([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01])
        return isRSA ? .rsa : .other
    }
}
