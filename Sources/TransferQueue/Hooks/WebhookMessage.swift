import TransferCore
import TransferCrypto
import TransferJobs
import TransferUpload

/// A webhook request as Standard Webhooks defines it (github.com/standard-webhooks, spec 1.0). It carries an ID, the
/// time, and an HMAC-SHA-256 over both and the body.
struct WebhookMessage {
    let url: String
    /// The key of the signature; `nil` if nothing is signed.
    let key: [UInt8]?

    /// Reads the URL and the secret of a webhook.
    ///
    /// - Throws: `secretMissing` if either cannot be read, `badURL` for a URL that is not an HTTP URL.
    init(_ hook: FinishHook.Webhook, _ secrets: SecretSource) throws(TransferError) {
        url = try secrets.read(hook.url)
        if let refusal = URLRule.refusal(of: url, schemes: ["https", "http"]), !refusal.isSecret {
            throw TransferError(.badURL, "the URL of the webhook: \(refusal.message)")
        }
        key = try hook.secret.map { text throws(TransferError) in try Self.key(secrets.read(text)) }
    }

    /// Decodes a secret: base64 after the prefix `whsec_`, otherwise the bytes of the text.
    private static func key(_ text: String) throws(TransferError) -> [UInt8] {
        let mark = "whsec_"
        guard text.hasPrefix(mark) else { return Array(text.utf8) }
        guard let key = Base64.decode(text.dropFirst(mark.utf8.count)), !key.isEmpty else {
            throw TransferError(.secretMissing, "the webhook's secret begins with whsec_, but is not base64 behind it")
        }
        return key
    }

    /// Builds the signed request.
    ///
    /// - Parameter now: Seconds since 1970.
    func request(id: String, body: String, now: Int64) throws(TransferError) -> UploadRequest {
        var headers = [
            HeaderField("Content-Type", "application/json"), HeaderField("webhook-id", id),
            HeaderField("webhook-timestamp", "\(now)"),
        ]
        if let key {
            let code = try MessageAuthentication.sha256(Array("\(id).\(now).\(body)".utf8), key: key)
            headers.append(HeaderField("webhook-signature", "v1,\(Base64.encode(code))"))
        }
        return UploadRequest(
            id: 1, method: "POST", url: url, headers: headers, body: .bytes(Array(body.utf8)), ownersFields: .all,
            followsRedirects: false)
    }
}
