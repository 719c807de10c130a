import TransferCore
import TransferUpload

extension JobDecoder {
    /// Reads `s3` into what the defaults have set.
    mutating func s3(into access: inout JobSettings.S3Access?) throws(JSONFault) {
        var value = access ?? JobSettings.S3Access()
        let start = reader.offset
        _ = try object(S3Key.table) { (decoder, key) throws(JSONFault) in
            switch key {
            case .endpoint: value.endpoint = try decoder.endpoint()
            case .region: value.region = try decoder.string { $0.isEmpty ? "the region is empty" : nil }
            case .style: value.style = try decoder.word(JobSettings.S3Access.Style.self)
            case .profile: value.profile = try decoder.string { $0.isEmpty ? "the name is empty" : nil }
            case .integrity: value.integrity = try decoder.word(JobSettings.S3Access.Integrity.self)
            case .accessKey: value.accessKey = try decoder.secret(isSecret: false) { _ in nil }
            case .secretKey: value.secretKey = try decoder.key("a secret key")
            case .sessionToken: value.sessionToken = try decoder.key("a token")
            }
        }
        if (value.accessKey == nil) != (value.secretKey == nil) {
            note("\"s3\" has both \"accessKey\" and \"secretKey\", or neither", brace(start))
        }
        access = value
    }

    private mutating func key(_ what: String) throws(JSONFault) -> SecretText? {
        try secret(isSecret: true) { _ in "\(what) is named, never written; \(Self.secretAdvice)" }
    }

    private mutating func endpoint() throws(JSONFault) -> String? {
        guard let text = try text() else { return nil }
        let url = reader.string(text)
        guard !isTrusted else { return url }
        if let refusal = URLRule.refusal(of: url, schemes: ["https", "http"]) {
            note(refusal.message, text.token, isSecret: refusal.isSecret)
            return nil
        }
        if let refusal = S3Location.refusal(ofEndpoint: url) {
            note(refusal, text.token)
            return nil
        }
        return url
    }
}

extension CanonicalWriter {
    mutating func s3(_ access: JobSettings.S3Access) {
        object { writer in
            writer.member(S3Key.endpoint, access.endpoint)
            writer.member(S3Key.region, access.region)
            writer.member(S3Key.style, access.style?.rawValue)
            writer.member(S3Key.profile, access.profile)
            writer.member(S3Key.integrity, access.integrity?.rawValue)
            writer.member(S3Key.accessKey, access.accessKey)
            writer.member(S3Key.secretKey, access.secretKey)
            writer.member(S3Key.sessionToken, access.sessionToken)
        }
    }
}
