import TransferCore

/// The way to a server, and who is trusted and shown on it.
extension JobDecoder {
    static let proxyAdvice =
        "write \"proxy\": {\"url\": \"http://HOST:PORT\", \"user\": \"NAME\", \"password\": {\"env\": \"NAME\"}}"

    /// A URL, or an object with the credentials that belong to one.
    mutating func proxy(into proxy: inout JobSettings.Proxy?) throws(JSONFault) {
        let kind = try reader.kind()
        switch kind {
        case .string:
            guard let url = try proxyURL(mayBeEmpty: true) else { return }
            proxy = JobSettings.Proxy(url: url, noProxy: proxy?.noProxy)
        case .object: try credentialedProxy(into: &proxy)
        default: try mismatch("a proxy's URL or an object", kind)
        }
    }

    /// - Parameter mayBeEmpty: An empty one switches off the proxies that the environment names.
    mutating func proxyURL(mayBeEmpty: Bool) throws(JSONFault) -> String? {
        guard let text = try text() else { return nil }
        let url = reader.string(text)
        if isTrusted || (url.isEmpty && mayBeEmpty) { return url }
        if let refusal = URLRule.refusal(of: url, schemes: URLRule.proxySchemes, advice: Self.proxyAdvice) {
            note(refusal.message, text.token, isSecret: refusal.isSecret)
            return nil
        }
        return url
    }

    private mutating func credentialedProxy(into proxy: inout JobSettings.Proxy?) throws(JSONFault) {
        let start = reader.offset
        var draft = JobFields.ProxyDraft()
        let before = problems.count
        let seen = try JobFields.credentialedProxy.read(&self, into: &draft)
        guard seen != nil, problems.count == before else { return }
        guard let url = draft.url else { return note("\"url\" is missing; \(Self.proxyAdvice)", brace(start)) }
        switch (draft.user, draft.password) {
        case (nil, nil): proxy = JobSettings.Proxy(url: url, noProxy: proxy?.noProxy)
        case (let user?, let password?):
            proxy = JobSettings.Proxy(
                url: url, noProxy: proxy?.noProxy, credentials: .init(user: user, password: password))
        default: note("a proxy has both \"user\" and \"password\", or neither", brace(start))
        }
    }
}

/// What a pin of a public key may be: `sha256/` and the 32 bytes of a digest in base 64 (RFC 7469 §2.4).
enum PinRule {
    static func refusal(of pin: String) -> String? {
        let prefix = "sha256/"
        let digest = pin.utf8.dropFirst(prefix.utf8.count)
        let isBase64 = digest.dropLast().allSatisfy { byte in
            let character = Character(UnicodeScalar(byte))
            return (character.isASCII && (character.isLetter || character.isNumber)) || character == "+"
                || character == "/"
        }
        guard pin.hasPrefix(prefix), digest.count == 44, digest.last == UInt8(ascii: "="), isBase64 else {
            return "not a pin; write \"sha256/\" and 44 characters of base 64"
        }
        return nil
    }
}
