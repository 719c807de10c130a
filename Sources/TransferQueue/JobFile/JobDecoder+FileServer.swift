import TransferCore

extension JobDecoder {
    /// Reads `ssh` into what the defaults have set.
    mutating func ssh(into access: inout JobSettings.SSHAccess?) throws(JSONFault) {
        var value = access ?? JobSettings.SSHAccess()
        let start = reader.offset
        _ = try object(SSHKey.table) { (decoder, key) throws(JSONFault) in
            switch key {
            case .user: value.user = try decoder.string { $0.isEmpty ? "the name is empty" : nil }
            case .knownHosts: value.knownHosts = try decoder.path()
            case .hostKey: value.hostKey = try decoder.string(HostKeyRule.refusal(of:))
            case .key: value.key = try decoder.path()
            case .keyPassphrase:
                value.keyPassphrase = try decoder.secret(isSecret: true) { _ in
                    "a passphrase is named, never written; \(Self.secretAdvice)"
                }
            case .agent: value.agent = try decoder.boolean()
            }
        }
        if value.keyPassphrase != nil, value.key == nil, !isTrusted {
            note("\"keyPassphrase\" needs a \"key\"", brace(start))
        }
        access = value
    }

    /// Reads `ftp` into what the defaults have set.
    mutating func ftp(into access: inout JobSettings.FTPAccess?) throws(JSONFault) {
        var value = access ?? JobSettings.FTPAccess()
        _ = try object(FTPKey.table) { (decoder, key) throws(JSONFault) in
            switch key {
            case .requireTLS: value.requireTLS = try decoder.boolean() ?? false
            case .active: value.active = try decoder.boolean() ?? false
            }
        }
        access = value
    }
}

/// What the fingerprint of a host key may be: as `ssh-keygen -lf` shows it.
public enum HostKeyRule {
    public static func refusal(of text: String) -> String? {
        let digest = text.utf8.dropFirst("SHA256:".utf8.count)
        let isBase64 = digest.allSatisfy { byte in
            let character = Character(UnicodeScalar(byte))
            return (character.isASCII && (character.isLetter || character.isNumber)) || character == "+"
                || character == "/"
        }
        guard text.hasPrefix("SHA256:"), digest.count == 43, isBase64 else {
            return "not a fingerprint; write \"SHA256:\" and 43 characters of base 64, as ssh-keygen -lf shows it"
        }
        return nil
    }
}

extension CanonicalWriter {
    mutating func ssh(_ access: JobSettings.SSHAccess) {
        object { writer in
            writer.member(SSHKey.user, access.user)
            writer.member(SSHKey.knownHosts, access.knownHosts)
            writer.member(SSHKey.hostKey, access.hostKey)
            writer.member(SSHKey.key, access.key)
            writer.member(SSHKey.keyPassphrase, access.keyPassphrase)
            writer.member(SSHKey.agent, access.agent)
        }
    }

    mutating func ftp(_ access: JobSettings.FTPAccess) {
        object { writer in
            if access.requireTLS { writer.member(FTPKey.requireTLS, true) }
            if access.active { writer.member(FTPKey.active, true) }
        }
    }
}
