enum DigestAlgorithm: String {
    case md5 = "MD5"
    case sha256 = "SHA-256"

    func hexadecimal(of text: String) -> String {
        let bytes = self == .md5 ? MessageDigest.md5(Array(text.utf8)) : MessageDigest.sha256(Array(text.utf8))
        return bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

/// The check of digest access authentication (RFC 7616) with `qop="auth"`. It keeps no nonces, so it also accepts a
/// used one.
struct DigestCheck {
    let algorithm: DigestAlgorithm
    let user: String
    let password: String
    let method: String
    let target: String

    private static let realm = "digest@test"

    var challenge: String {
        var generator = SystemRandomNumberGenerator()
        let nonce = String(generator.next(), radix: 16) + String(generator.next(), radix: 16)
        return
            "Digest realm=\"\(Self.realm)\", nonce=\"\(nonce)\", opaque=\"\(algorithm.hexadecimal(of: Self.realm))\", "
            + "qop=\"auth\", algorithm=\(algorithm.rawValue), stale=FALSE"
    }

    func accepts(_ field: String?) -> Bool {
        guard let field, field.lowercased().hasPrefix("digest ") else { return false }
        let given = Self.parameters(field.dropFirst(7))
        guard given["username"] == user, given["realm"] == Self.realm, given["uri"] == target, given["qop"] == "auth",
            let nonce = given["nonce"], let count = given["nc"], let clientNonce = given["cnonce"]
        else { return false }
        let hash = algorithm.hexadecimal
        let secret = hash("\(user):\(Self.realm):\(password)")
        return given["response"]
            == hash("\(secret):\(nonce):\(count):\(clientNonce):auth:\(hash("\(method):\(target)"))")
    }

    /// Returns the parameters of the field; a comma between quotes is no separator.
    private static func parameters(_ field: Substring) -> [String: String] {
        var isQuoted = false
        let pairs = field.split { character in
            if character == "\"" { isQuoted.toggle() }
            return character == "," && !isQuoted
        }
        return Dictionary(
            pairs.compactMap { pair -> (String, String)? in
                let parts = pair.split(separator: "=", maxSplits: 1).map(\.trimmingSpaces)
                guard parts.count == 2 else { return nil }
                return (parts[0].lowercased(), parts[1].replacing("\"", with: ""))
            }, uniquingKeysWith: { first, _ in first })
    }
}
