import TransferCore
import TransferUpload

/// The reader of the keys for a server's proxy, login and endpoint.
package enum ConnectionDecoder {
    package static let proxyAdvice =
        "write \"proxy\": {\"url\": \"http://HOST:PORT\", \"user\": \"NAME\", \"password\": {\"env\": \"NAME\"}}"

    /// Reads a proxy: a URL, or an object with a URL and credentials.
    package static func proxy(_ decoder: inout JobDecoder, into proxy: inout JobSettings.Proxy?) throws(JSONFault) {
        let kind = try decoder.reader.kind()
        switch kind {
        case .string:
            guard let url = try proxyURL(&decoder, mayBeEmpty: true) else { return }
            proxy = JobSettings.Proxy(url: url, noProxy: proxy?.noProxy)
        case .object: try credentialedProxy(&decoder, into: &proxy)
        default: try decoder.mismatch("a proxy's URL or an object", kind)
        }
    }

    /// Reads the URL of a proxy.
    ///
    /// - Parameter mayBeEmpty: Whether an empty URL is allowed, which switches off the environment's proxies.
    package static func proxyURL(_ decoder: inout JobDecoder, mayBeEmpty: Bool) throws(JSONFault) -> String? {
        guard let text = try decoder.text() else { return nil }
        let url = decoder.reader.string(text)
        if decoder.isTrusted || (url.isEmpty && mayBeEmpty) { return url }
        if let refusal = URLRule.refusal(of: url, schemes: URLRule.proxySchemes, advice: proxyAdvice) {
            decoder.note(refusal.message, text.token, isSecret: refusal.isSecret)
            return nil
        }
        return url
    }

    private static func credentialedProxy(
        _ decoder: inout JobDecoder, into proxy: inout JobSettings.Proxy?
    ) throws(JSONFault) {
        let start = decoder.reader.offset
        var draft = AccessFields.ProxyDraft()
        let before = decoder.problems.count
        let seen = try AccessFields.credentialedProxy.read(&decoder, into: &draft)
        guard seen != nil, decoder.problems.count == before else { return }
        guard let url = draft.url else {
            return decoder.note("\"url\" is missing; \(proxyAdvice)", decoder.brace(start))
        }
        switch (draft.user, draft.password) {
        case (nil, nil): proxy = JobSettings.Proxy(url: url, noProxy: proxy?.noProxy)
        case (let user?, let password?):
            proxy = JobSettings.Proxy(
                url: url, noProxy: proxy?.noProxy, credentials: .init(user: user, password: password))
        default: decoder.note("a proxy has both \"user\" and \"password\", or neither", decoder.brace(start))
        }
    }

    /// Reads the login of a server.
    ///
    /// - Returns: `.some(nil)` for no login; `nil` where the value is invalid, which is noted.
    package static func auth(_ decoder: inout JobDecoder) throws(JSONFault) -> JobSettings.Auth?? {
        let start = decoder.reader.offset
        var draft = AccessFields.AuthDraft()
        let before = decoder.problems.count
        let seen = try AccessFields.credentials.read(&decoder, into: &draft)
        guard seen != nil, decoder.problems.count == before else { return nil }
        switch (draft.netrc, draft.user, draft.password, draft.bearer) {
        case (.own?, let user, nil, nil): return .some(.netrc(user: user))
        case (.file(let path)?, let user, nil, nil): return .some(.netrc(user: user, file: path))
        case (.off?, nil, nil, nil): return .some(nil)
        case (nil, nil, nil, let token?): return .some(.bearer(token))
        case (nil, let user?, let password?, nil): return .some(.basic(user: user, password: password))
        default:
            decoder.note(
                "\"auth\" holds either \"netrc\" (and perhaps a \"user\"), \"bearer\", or both \"user\" and \"password\"",
                decoder.brace(start))
            return nil
        }
    }

    /// Reads whether logins come from a netrc file, and from which one.
    package static func netrc(_ decoder: inout JobDecoder) throws(JSONFault) -> AccessFields.NetrcWord? {
        let kind = try decoder.reader.kind()
        switch kind {
        case .boolean: return try decoder.reader.boolean() ? .own : .off
        case .string: return try decoder.path().map { .file($0) }
        default:
            try decoder.mismatch("true, false or a path", kind)
            return nil
        }
    }

    /// Reads the URL of a server that is compatible with Amazon S3.
    package static func endpoint(_ decoder: inout JobDecoder) throws(JSONFault) -> String? {
        guard let text = try decoder.text() else { return nil }
        let url = decoder.reader.string(text)
        guard !decoder.isTrusted else { return url }
        if let refusal = URLRule.refusal(of: url, schemes: ["https", "http"]) {
            decoder.note(refusal.message, text.token, isSecret: refusal.isSecret)
            return nil
        }
        if let refusal = S3Location.refusal(ofEndpoint: url) {
            decoder.note(refusal, text.token)
            return nil
        }
        return url
    }
}
