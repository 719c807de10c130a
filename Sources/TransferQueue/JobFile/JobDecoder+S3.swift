import TransferCore
import TransferUpload

extension JobDecoder {
    /// The URL of a server that speaks as Amazon's S3 does.
    mutating func endpoint() throws(JSONFault) -> String? {
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
